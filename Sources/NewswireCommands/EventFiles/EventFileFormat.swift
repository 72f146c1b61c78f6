/// How events stand in a file.
enum EventFileFormat: String, CaseIterable, Sendable {
    /// One JSON object a line.
    case ndjson
    /// One JSON array of objects.
    case array
    /// One JSON object over several lines, or a few in a row: a ninjs document, say.
    case document
    /// Comma-separated values (RFC 4180), the first line naming the event's fields.
    case csv

    /// How much of the beginning `init(ofTextBeginning:)` wants to see.
    static let beginningLength = 64 * 1024

    /// By the name's ending, where that is beyond doubt.
    init?(fileName: String) {
        switch fileName.lowercased().split(separator: ".").last {
        case "ndjson", "jsonl": self = .ndjson
        case "csv": self = .csv
        default: return nil
        }
    }

    /// By how the text begins.
    init(ofTextBeginning bytes: [UInt8]) {
        let text = bytes.drop { $0 <= UInt8(ascii: " ") || [0xEF, 0xBB, 0xBF].contains($0) }
        switch text.first {
        case UInt8(ascii: "["): self = .array
        case UInt8(ascii: "{"):
            // A line that is an object by itself is one of many; a document's first line leaves something open.
            let line = text.prefix { $0 != UInt8(ascii: "\n") }
            var scan = JSONScan()
            for byte in line { scan.read(byte) }
            self = scan.depth == 0 && !scan.isInString ? .ndjson : .document
        default: self = .csv
        }
    }
}

/// Follows JSON text byte by byte, just closely enough to see where values begin and end.
struct JSONScan {
    private(set) var depth = 0
    private(set) var isInString = false
    private var isEscaped = false

    mutating func read(_ byte: UInt8) {
        if isInString {
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isInString = false
            }
            return
        }
        switch byte {
        case UInt8(ascii: "\""): isInString = true
        case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
        case UInt8(ascii: "}"), UInt8(ascii: "]"): depth = max(0, depth - 1)
        default: break
        }
    }
}
