import Foundation

/// A file of events, or standard input, read piece by piece.
package final class EventFile {
    package struct Failure: Error, CustomStringConvertible {
        package var description: String
    }

    private let bytes: FileBytes
    private let path: String
    private var splitter: EventFileSplitter?
    /// The text that was read while the format is not known.
    private var beginning: [UInt8] = []
    private var isFinished = false
    /// The format of the file; `nil` while it is not known.
    package private(set) var format: EventFileFormat?

    /// - Parameters:
    ///   - path: `-` for standard input.
    ///   - format: `nil` to detect it by the name or the beginning of the text.
    package init(path: String, format: EventFileFormat? = nil) throws(Failure) {
        self.path = path
        self.format = format
        bytes = try FileBytes(path: path)
    }

    /// Checks that the path can be read. Does not open it, because the writer of a pipe would notice.
    static func examine(_ path: String) throws(Failure) {
        var status = stat()
        guard stat(path, &status) == 0, access(path, R_OK) == 0 else { throw Failure(path, errno) }
        if status.st_mode & S_IFMT == S_IFDIR { throw Failure(path, EISDIR) }
    }

    /// True if the path can be read a second time, which is not possible for a stream.
    static func isResumable(_ path: String) -> Bool {
        var status = stat()
        return path != "-" && stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    /// The name for messages.
    var name: String { bytes.name }

    /// The share of the file that was read, 0 to 1; `nil` for standard input and other streams.
    var share: Double? {
        bytes.size.map { $0 > 0 ? Double(bytes.bytesRead) / Double($0) : 1 }
    }

    /// True if the file was not changed since it was opened. True for streams.
    var isUnchanged: Bool { bytes.isUnchanged }

    /// The items that the next piece completes; `nil` at the end of the file. Empty if the piece completes no item, or if a
    /// stream has no data now.
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
