import Foundation

/// A file of events, or standard input, read piece by piece.
package final class EventFile {
    package struct Failure: Error, CustomStringConvertible {
        package var description: String
    }

    private let bytes: FileBytes
    private let path: String
    private var splitter: EventFileSplitter?
    /// The text so far, while the format is not known.
    private var beginning: [UInt8] = []
    private var isFinished = false
    /// `nil` while that is not known.
    package private(set) var format: EventFileFormat?

    /// - Parameters:
    ///   - path: `-` for standard input.
    ///   - format: `nil` to detect it by the name or the beginning of the text.
    package init(path: String, format: EventFileFormat? = nil) throws(Failure) {
        self.path = path
        self.format = format
        bytes = try FileBytes(path: path)
    }

    /// Finds out whether the path can be read, without opening it: what writes to a pipe would notice.
    static func examine(_ path: String) throws(Failure) {
        var status = stat()
        guard stat(path, &status) == 0, access(path, R_OK) == 0 else { throw Failure(path, errno) }
        if status.st_mode & S_IFMT == S_IFDIR { throw Failure(path, EISDIR) }
    }

    /// The path can be read a second time: it is no stream.
    static func isResumable(_ path: String) -> Bool {
        var status = stat()
        return path != "-" && stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    /// The name for messages.
    var name: String { bytes.name }

    /// The part that was read, 0 to 1; `nil` for standard input and other streams.
    var share: Double? {
        bytes.size.map { $0 > 0 ? Double(bytes.bytesRead) / Double($0) : 1 }
    }

    /// It was not written to since it was opened. True for streams.
    var isUnchanged: Bool { bytes.isUnchanged }

    /// The items that the next piece completes, possibly none, as when a stream gives nothing for now; `nil` at the end of
    /// the file.
    package func next() throws(Failure) -> [EventFileItem]? {
        guard !isFinished else { return nil }
        guard let piece = try bytes.next() else { return [] }
        isFinished = piece.isEmpty
        var items: [EventFileItem] = []
        if splitter == nil {
            beginning += piece
            guard isFinished || format != nil || EventFileFormat.isRecognisable(beginning) else { return [] }
            try begin(&items)
        } else {
            splitter?.feed(piece, into: &items)
        }
        if isFinished { splitter?.finish(into: &items) }
        return items
    }

    private func begin(_ items: inout [EventFileItem]) throws(Failure) {
        guard !beginning.contains(0) else {
            throw Failure(
                description:
                    "\(name): is not text in UTF-8; gzip and zstd are read as they are, unpack other archives and convert other texts first"
            )
        }
        let known = format ?? EventFileFormat(fileName: path, isCompressed: bytes.compression != nil)
        let format = known ?? EventFileFormat(ofTextBeginning: beginning)
        self.format = format
        splitter = EventFileSplitter(format)
        splitter?.feed(beginning, into: &items)
        beginning = []
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
    /// One NewsML-G2 or NITF document, which may hold several items.
    case newsML = "newsml"

    /// Text of this length, in bytes, is enough in any case.
    private static let beginningLength = 64 * 1024

    /// Detects the format by the name's ending; `nil` if that is not certain.
    ///
    /// - Parameter isCompressed: the ending before that of the compression counts.
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

    /// Whether `init(ofTextBeginning:)` would say the same of any longer text.
    static func isRecognisable(_ bytes: [UInt8]) -> Bool {
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
        // A blank text is empty in any format, but for this one it would be a first line.
        case nil: self = .ndjson
        default: self = .csv
        }
    }

    /// Without blanks and a byte order mark before the text.
    private static func trimmed(_ bytes: [UInt8]) -> ArraySlice<UInt8> {
        bytes.drop { $0 <= UInt8(ascii: " ") || [0xEF, 0xBB, 0xBF].contains($0) }
    }
}
