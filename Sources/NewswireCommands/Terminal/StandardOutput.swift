import ArgumentParser
import Foundation

/// Where a command puts its results. Unlike a notice on standard error, a result that cannot be written ends the command.
struct StandardOutput: Sendable {
    private let terminal = Terminal(descriptor: 1)

    var isInteractive: Bool { terminal.isInteractive }
    var hasColours: Bool { terminal.hasColours }
    var width: Int { terminal.width }

    /// True once nobody can read any more, as after the end of `head`.
    var isAbandoned: Bool { terminal.isAbandoned }

    /// Writes all of it.
    ///
    /// - Throws: the exit of the command: success once nobody reads any more, as behind `| head`; failure for every other
    ///   reason, which then stands on standard error.
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

    /// To be called before a command begins: a reader that is gone then shows as a failed write, not as a signal, and a text
    /// that the command line itself prints, such as help, cannot be lost silently either.
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
