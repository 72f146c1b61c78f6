import ArgumentParser
import Foundation

/// The output of a command's results. A result that cannot be written ends the command; a lost notice does not.
struct StandardOutput: Sendable {
    private let terminal = Terminal(descriptor: 1)

    var isInteractive: Bool { terminal.isInteractive }
    var hasColours: Bool { terminal.hasColours }
    var width: Int { terminal.width }

    /// True once the reader has closed the stream, as `head` does at its end.
    var isAbandoned: Bool { terminal.isAbandoned }

    /// Writes the whole text.
    ///
    /// - Throws: the exit of the command. It is success if nobody reads any more, as behind `| head`. For every other error
    ///   it is failure, and the error is on standard error.
    func write(_ text: String) throws(ExitCode) {
        if let error = terminal.failure(writing: text) { throw Self.exit(error) }
    }

    func line(_ text: String = "") throws(ExitCode) {
        try write(text + "\n")
    }

    private static func exit(_ error: Int32) -> ExitCode {
        if error == EPIPE { return .success }
        Terminal.standardError.line("error: standard output: \(String(cString: strerror(error)))")
        return .failure
    }
}

extension Terminal {
    static let standardOutput = StandardOutput()

    /// Must be called before a command begins. A closed reader is then a failed write instead of a signal. Texts that the
    /// command line itself prints, such as help, cannot be lost silently either.
    package static func prepare() {
        signal(SIGPIPE, SIG_IGN)
        atexit {
            let error = fflush(nil) != 0 && errno != EPIPE ? errno : nil
            if let error { Terminal.standardError.line("error: standard output: \(String(cString: strerror(error)))") }
            LogWriter.standardError.flush(within: .seconds(2))
            if error != nil { _exit(ExitCode.failure.rawValue) }
        }
    }
}
