/// One event of a file, or one error in it.
package struct EventFileItem: Hashable, Sendable {
    package enum Content: Hashable, Sendable {
        /// A JSON text that should be an event; not decoded yet.
        case event([UInt8])
        /// An item that is not an event, with the reason.
        case bad(String)
        /// An error after which the file cannot be read on, with the reason. Events may be missing.
        case broken(String)
    }

    /// The line it starts on, from 1.
    package var line: Int
    package var content: Content
    /// True for an event that was converted from another notation into our own shape.
    package var isConverted: Bool

    package init(line: Int, content: Content, isConverted: Bool = false) {
        (self.line, self.content, self.isConverted) = (line, content, isConverted)
    }
}

/// Splits a file into events as its bytes arrive, in pieces of any size. Buffers one event at a time, never the file. The
/// exception is an XML document, which is buffered up to `FeedLimits.document` bytes.
package struct EventFileSplitter {
    /// Maximum length of an event, in bytes. A longer one is bad and skipped.
    package static let eventLengthMax = 2 << 20

    static let endsInEvent = "the file ends in the middle of this event"
    static let tooLong = EventFileItem.Content.bad("longer than \(eventLengthMax >> 20) MiB")

    private var splitter: any ItemSplitter

    package init(_ format: EventFileFormat) {
        splitter =
            switch format {
            case .ndjson: LineSplitter()
            case .array: JSONSplitter(isArray: true)
            case .document: JSONSplitter(isArray: false)
            case .csv: CSVSplitter()
            case .newsML: NewsDocumentSplitter()
            }
    }

    /// Reads the next bytes and appends the items that they complete.
    package mutating func feed(_ bytes: ArraySlice<UInt8>, into items: inout [EventFileItem]) {
        splitter.feed(bytes, into: &items)
    }

    /// Appends the unfinished item at the end of the file.
    package mutating func finish(into items: inout [EventFileItem]) { splitter.finish(into: &items) }
}

/// Splits files of one format.
protocol ItemSplitter {
    mutating func feed(_ bytes: ArraySlice<UInt8>, into items: inout [EventFileItem])
    mutating func finish(into items: inout [EventFileItem])
}

/// Splits NDJSON, in which every line that is not blank is an event.
struct LineSplitter: ItemSplitter {
    private var line = 1
    private var pending: [UInt8] = []
    private var isTooLong = false

    mutating func feed(_ bytes: ArraySlice<UInt8>, into items: inout [EventFileItem]) {
        for byte in bytes {
            if byte == UInt8(ascii: "\n") {
                end(into: &items)
                line += 1
            } else if pending.count < EventFileSplitter.eventLengthMax {
                pending.append(byte)
            } else {
                isTooLong = true
            }
        }
    }

    mutating func finish(into items: inout [EventFileItem]) {
        var scan = JSONScan()
        for byte in pending { scan.read(byte) }
        if scan.depth > 0 || scan.isInString, !isTooLong {
            items.append(EventFileItem(line: line, content: .broken(EventFileSplitter.endsInEvent)))
        } else {
            end(into: &items)
        }
    }

    private mutating func end(into items: inout [EventFileItem]) {
        defer {
            pending.removeAll(keepingCapacity: true)
            isTooLong = false
        }
        if isTooLong { return items.append(EventFileItem(line: line, content: EventFileSplitter.tooLong)) }
        // Removes a byte order mark, and the carriage return of a Windows line break.
        if line == 1, pending.starts(with: [0xEF, 0xBB, 0xBF]) { pending.removeFirst(3) }
        guard pending.contains(where: { $0 > UInt8(ascii: " ") }) else { return }
        if pending.last == UInt8(ascii: "\r") { pending.removeLast() }
        items.append(EventFileItem(line: line, content: .event(pending)))
    }
}

/// The arrangement of events in a file.
package enum EventFileFormat: String, CaseIterable, Sendable {
    /// One JSON object per line.
    case ndjson
    /// One JSON array of objects.
    case array
    /// One JSON object over several lines, such as a ninjs document, or a few of them.
    case document
    /// Comma-separated values (RFC 4180), the first line naming the event's fields.
    case csv
    /// One NewsML-G2 or NITF document, which may contain several items.
    case newsML = "newsml"

    /// Length of text, in bytes, that always suffices to detect the format.
    private static let beginningLength = 64 * 1024

    /// Detects the format by the name's ending; `nil` if that is not certain.
    ///
    /// - Parameter isCompressed: true to use the ending before that of the compression.
    package init?(fileName: String, isCompressed: Bool = false) {
        var parts = fileName.lowercased().split(separator: ".")
        if isCompressed, ["gz", "gzip", "zst", "zstd"].contains(parts.last) { parts.removeLast() }
        switch parts.last {
        case "ndjson", "jsonl": self = .ndjson
        case "csv": self = .csv
        case "xml": self = .newsML
        default: return nil
        }
    }

    /// True if `init(ofTextBeginning:)` gives the same result for any longer text.
    package static func isRecognisable(_ bytes: [UInt8]) -> Bool {
        if bytes.count >= beginningLength { return true }
        let text = trimmed(bytes)
        return text.first.map { $0 != UInt8(ascii: "{") } ?? false || text.contains(UInt8(ascii: "\n"))
    }

    /// Detects the format by the beginning of the text.
    package init(ofTextBeginning bytes: [UInt8]) {
        let text = Self.trimmed(bytes)
        switch text.first {
        case UInt8(ascii: "["): self = .array
        case UInt8(ascii: "{"):
            // In NDJSON the first line is a complete object; in a document it leaves one open.
            let line = text.prefix { $0 != UInt8(ascii: "\n") }
            var scan = JSONScan()
            for byte in line { scan.read(byte) }
            self = scan.depth == 0 && !scan.isInString ? .ndjson : .document
        case UInt8(ascii: "<"): self = .newsML
        // A blank text has no events in NDJSON, but CSV would read it as its first line.
        case nil: self = .ndjson
        default: self = .csv
        }
    }

    /// The bytes without blanks and a byte order mark before the text.
    private static func trimmed(_ bytes: [UInt8]) -> ArraySlice<UInt8> {
        bytes.drop { $0 <= UInt8(ascii: " ") || [0xEF, 0xBB, 0xBF].contains($0) }
    }
}
