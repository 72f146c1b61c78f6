import ArgumentParser
import Foundation
import NewsModel
import Synchronization

/// An output stream of the process. Results go to `StandardOutput` instead.
package struct Terminal: Sendable {
    package let descriptor: Int32

    package init(descriptor: Int32) { self.descriptor = descriptor }

    static let standardError = Terminal(descriptor: 2)

    /// True for a service, which writes its notices through the log's queue; see `becomeService`.
    private static let isService = Atomic(false)

    /// Stops notices on standard error from waiting for a reader, because a service must continue when nobody reads. Other
    /// commands do wait. Their notices would otherwise be lost behind a pager, and mix with standard output.
    static func becomeService() { isService.store(true, ordering: .relaxed) }

    var isInteractive: Bool { isatty(descriptor) == 1 }

    /// True if the conventions of https://no-color.org and `TERM=dumb` allow colours.
    var hasColours: Bool {
        let environment = ProcessInfo.processInfo.environment
        return isInteractive && environment["NO_COLOR", default: ""].isEmpty && environment["TERM"] != "dumb"
    }

    /// The width in characters; 80 if it is unknown.
    var width: Int {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    /// True for a pipe whose other end is closed.
    var isAbandoned: Bool {
        var stream = pollfd(fd: descriptor, events: 0, revents: 0)
        return poll(&stream, 1, 0) > 0 && stream.revents & Int16(POLLERR) != 0
    }

    /// Writes the whole text, or stops silently if that is not possible. Only for notices, which nothing depends on.
    func write(_ text: String) {
        if descriptor == Self.standardError.descriptor, Self.isService.load(ordering: .relaxed) {
            LogWriter.standardError.append(text)
        } else {
            _ = failure(writing: text)
        }
    }

    /// Writes the whole text, without characters that hide or reorder others.
    /// - Returns: the system's error; `nil` without an error.
    func failure(writing text: String) -> Int32? {
        var bytes = Array(text.escapingHidden.utf8)[...]
        while !bytes.isEmpty {
            let written = bytes.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if written > 0 {
                bytes = bytes.dropFirst(written)
            } else if written < 0, errno == EAGAIN {
                // Another process may have made the stream non-blocking.
                var stream = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&stream, 1, -1)
            } else if written < 0, errno != EINTR {
                return errno
            }
        }
        return nil
    }

    func line(_ text: String = "") { write(text + "\n") }

    /// Writes a line with text from outside, such as the name of a file.
    func plainLine(_ text: String) { line(text.plain) }
}

/// Writes a notice to standard error, on one line and without characters that a terminal obeys.
func notice(_ text: String) { Terminal.standardError.plainLine(text) }

package enum TerminalColour: String, Sendable {
    case red = "31"
    case green = "32"
    case yellow = "33"
    case grey = "90"
    case bold = "1"

    func applied(to text: String) -> String { "\u{1B}[\(rawValue)m\(text)\u{1B}[0m" }
}

/// The width of a text in a terminal's grid.
package enum TextWidth {
    package static func columns(_ text: String) -> Int { text.reduce(0) { $0 + columns($1) } }

    /// The longest beginning that fits, with `…` in place of the rest.
    static func cut(_ text: String, to columnsMax: Int) -> String {
        guard columns(text) > columnsMax else { return text }
        var cut = ""
        var used = 1
        for character in text {
            used += columns(character)
            if used > columnsMax { break }
            cut.append(character)
        }
        return cut + "…"
    }

    /// East Asian wide characters and emoji take two columns. The ranges are coarse: an error only shifts the edge of a table.
    private static func columns(_ character: Character) -> Int {
        guard let scalar = character.unicodeScalars.first else { return 0 }
        if scalar.properties.generalCategory == .control { return 0 }
        switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60,
            0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD:
            return 2
        default: return 1
        }
    }
}

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

    func line(_ text: String = "") throws(ExitCode) { try write(text + "\n") }

    private static func exit(_ error: Int32) -> ExitCode {
        if error == EPIPE { return .success }
        notice("error: standard output: \(String(cString: strerror(error)))")
        return .failure
    }
}

/// The output of a command that changes something. A line that cannot be written must not leave the change half done, so the command
/// continues, and fails at its end.
struct ActOutput {
    private var failure: ExitCode?

    mutating func write(_ text: String) {
        guard failure == nil else { return }
        do throws(ExitCode) { try Terminal.standardOutput.write(text) } catch { failure = error }
    }

    mutating func line(_ text: String) { write(text + "\n") }

    /// True if a line was lost, except to a reader who has closed the stream.
    var hasLost: Bool { failure.map { $0 != .success } ?? false }

    /// - Throws: failure if a line was lost.
    func end() throws(ExitCode) { if hasLost { throw .failure } }
}

enum JSONLine {
    static func text(_ write: (inout JSONWriter) -> Void) -> String {
        var bytes: [UInt8] = []
        JSONWriter.write(into: &bytes, write)
        return String(decoding: bytes, as: UTF8.self)
    }

    static func object(_ body: (inout JSONWriter) -> Void) -> String {
        String(decoding: JSONWriter.object(body), as: UTF8.self)
    }
}

extension Terminal {
    static let standardOutput = StandardOutput()

    /// Must be called before a command begins. A closed reader is then a failed write instead of a signal. Texts that the
    /// command line itself prints, such as help, cannot be lost silently either.
    package static func prepare() {
        signal(SIGPIPE, SIG_IGN)
        // A socket must not get the number of a standard descriptor that is closed, because texts are written to those. They
        // stay unwritable, so that lost output is an error.
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
            _ = open("/dev/null", O_RDONLY)
        }
        atexit {
            let error = fflush(nil) != 0 && errno != EPIPE ? errno : nil
            if let error { notice("error: standard output: \(String(cString: strerror(error)))") }
            LogWriter.standardError.flush(within: .seconds(2))
            if error != nil { _exit(ExitCode.failure.rawValue) }
        }
    }
}

extension StringProtocol {
    /// The text on one line and without control characters. Text from outside must not move the cursor or change the order in
    /// which the rest of the line is read.
    package var plain: String {
        String(map { $0.isNewline || $0 == "\t" ? " " : $0 }.filter { !$0.isControl }).escapingHidden
    }
}

extension String {
    /// The text with JSON escapes for characters that change how the text around them is shown. These are C1 controls, line and
    /// paragraph separators, and marks of writing direction. U+202E, for example, makes `txt.exe` of `exe.txt`.
    ///
    /// In JSON such a character occurs only inside a string, where the escape means the same.
    package var escapingHidden: String {
        // In UTF-8, all of these characters begin with one of these three bytes, which few texts contain.
        guard utf8.contains(where: { $0 == 0xC2 || $0 == 0xD8 || $0 == 0xE2 }),
            unicodeScalars.contains(where: \.isHidden)
        else {
            return self
        }
        var escaped = ""
        for scalar in unicodeScalars {
            if scalar.isHidden {
                let digits = String(scalar.value, radix: 16)
                escaped += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            } else {
                escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}

extension Unicode.Scalar {
    fileprivate var isHidden: Bool {
        switch value {
        case 0x80...0x9F, 0x061C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}

extension Character {
    fileprivate var isControl: Bool {
        unicodeScalars.contains { $0.properties.generalCategory == .control }
    }
}
