package import Backfill
import Foundation

/// A file of events, or standard input, read piece by piece.
package final class EventFile {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String

        init(_ description: String) { self.description = description }
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
    var share: Double? { bytes.size.map { $0 > 0 ? Double(bytes.bytesRead) / Double($0) : 1 } }

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
            splitter?.feed(piece[...], into: &items)
        }
        if isFinished { splitter?.finish(into: &items) }
        return items
    }

    private func begin(_ items: inout [EventFileItem]) throws(Failure) {
        guard !beginning.contains(0) else {
            throw Failure(
                "\(name): is not text in UTF-8; gzip and zstd are read as they are, unpack other archives and convert other texts first"
            )
        }
        let known = format ?? EventFileFormat(fileName: path, isCompressed: bytes.compression != nil)
        let format = known ?? EventFileFormat(ofTextBeginning: beginning)
        self.format = format
        splitter = EventFileSplitter(format)
        splitter?.feed(beginning[...], into: &items)
        beginning = []
    }
}
