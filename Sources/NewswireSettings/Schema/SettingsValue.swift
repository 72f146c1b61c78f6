import ByteText
import Foundation

/// The notation of single values: durations, percentages, sizes, numbers and names of topics.
package enum SettingsValue {
    /// Reads a duration such as `500ms`, `30s`, `15m`, `2h`, `7d`, or several in a row as in `1h30m`. Never negative.
    package static func duration(_ text: String) -> Duration? {
        var rest = text[...]
        var milliseconds = 0
        guard !rest.isEmpty else { return nil }
        while !rest.isEmpty {
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            rest = rest.dropFirst(digits.count)
            let unit = rest.prefix { $0.isASCII && $0.isLetter }
            rest = rest.dropFirst(unit.count)
            guard let count = Int(digits), let factor = millisecondsPerUnit[String(unit)] else { return nil }
            let (part, overflow) = count.multipliedReportingOverflow(by: factor)
            let (sum, overflowed) = milliseconds.addingReportingOverflow(part)
            if overflow || overflowed { return nil }
            milliseconds = sum
        }
        return .milliseconds(milliseconds)
    }

    /// The notation of a duration in its largest unit without a remainder.
    package static func text(_ duration: Duration) -> String {
        let milliseconds = duration.components.seconds * 1000 + duration.components.attoseconds / 1_000_000_000_000_000
        return switch milliseconds {
        case let value where value % 86_400_000 == 0: "\(value / 86_400_000)d"
        case let value where value % 3_600_000 == 0: "\(value / 3_600_000)h"
        case let value where value % 60_000 == 0: "\(value / 60_000)m"
        case let value where value % 1000 == 0: "\(value / 1000)s"
        default: "\(milliseconds)ms"
        }
    }

    private static let millisecondsPerUnit = ["ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000]

    /// Reads a whole percentage such as `10%`, which may exceed 100.
    package static func percent(_ text: String) -> Int? {
        text.last == "%" ? Int(digits: text.dropLast()) : nil
    }

    /// Reads a size such as `65536`, `64KiB`, `64MiB`, `2GiB`, `10kB` or `10MB`, in bytes.
    package static func size(_ text: String) -> Int? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard let count = Int(digits), let factor = bytesPerUnit[String(text.dropFirst(digits.count))] else {
            return nil
        }
        let (bytes, overflow) = count.multipliedReportingOverflow(by: factor)
        return overflow ? nil : bytes
    }

    /// The notation of a size in MiB if that leaves no remainder, otherwise in KiB.
    static func text(bytes: Int) -> String {
        bytes % 1_048_576 == 0 ? "\(bytes / 1_048_576)MiB" : "\(bytes / 1024)KiB"
    }

    private static let bytesPerUnit = [
        "": 1, "B": 1, "kB": 1000, "KB": 1000, "MB": 1_000_000, "GB": 1_000_000_000,
        "KiB": 1024, "MiB": 1_048_576, "GiB": 1_073_741_824,
    ]

    /// Reads a number such as `1` or `0.01`, in millionths. Digits after the sixth are dropped.
    static func millionths(_ text: String) -> Int? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard (1...2).contains(parts.count), let whole = Int(digits: parts[0]), whole <= 1_000_000 else { return nil }
        guard parts.count == 2 else { return whole * 1_000_000 }
        let digits = String(parts[1].prefix(6))
        guard Int(digits: parts[1].count <= 18 ? parts[1] : digits) != nil, let fraction = Int(digits: digits) else {
            return nil
        }
        return whole * 1_000_000 + (0..<(6 - digits.count)).reduce(fraction) { value, _ in value * 10 }
    }

    /// Kafka's own rule for the name of a topic: 1 to 249 of letters, digits, `.`, `_`, `-`; not `.` or `..`.
    static func isTopic(_ text: String) -> Bool {
        (1...249).contains(text.utf8.count) && text != "." && text != ".."
            && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "._-".contains($0)) }
    }
}

/// A host and a port, as in `127.0.0.1:9464` or `[::1]:9464`.
package struct NetworkAddress: Hashable, Sendable, CustomStringConvertible {
    package var host: String
    /// 0 asks the system for any free port.
    package var port: Int

    package init(host: String, port: Int) { (self.host, self.port) = (host, port) }

    package init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), let port = Int(digits: text[colon...].dropFirst()),
            port <= 65_535
        else { return nil }
        var host = text[..<colon]
        if host.first == "[", host.last == "]" {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            return nil
        }
        guard !host.isEmpty, host.allSatisfy({ !$0.isWhitespace && $0 != "/" && $0 != "," }), Self.isHost(host) else {
            return nil
        }
        self.init(host: String(host), port: port)
    }

    /// False for a malformed numeric address. Does not check that a name exists.
    private static func isHost(_ host: Substring) -> Bool {
        var bytes = in6_addr()
        // A link-local address names its interface after %.
        if host.contains(":") { return inet_pton(AF_INET6, String(host.prefix { $0 != "%" }), &bytes) == 1 }
        let labels = host.split(separator: ".", omittingEmptySubsequences: false)
        guard labels.last?.allSatisfy({ $0.isASCII && $0.isNumber }) == true else { return true }
        return inet_pton(AF_INET, String(host), &bytes) == 1
    }

    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
