import Foundation

/// A file of events, or standard input, read piece by piece.
package final class EventFile {
    package struct Failure: Error, CustomStringConvertible {
        package var description: String
    }

    /// The name for messages.
    let name: String
    package let format: EventFileFormat
    /// `nil` for standard input and other streams.
    let size: Int?
    let modified: Date?
    private(set) var bytesRead = 0

    private let handle: FileHandle
    private var splitter: EventFileSplitter
    private var beginning: Data?
    private var isFinished = false

    private static let pieceLength = 64 * 1024

    /// - Parameters:
    ///   - path: `-` for standard input.
    ///   - format: `nil` to detect it by the name or the beginning of the text.
    package init(path: String, format: EventFileFormat? = nil) throws(Failure) {
        if path == "-" {
            name = "standard input"
            handle = .standardInput
            size = nil
            modified = nil
        } else {
            name = path
            guard let handle = FileHandle(forReadingAtPath: path) else {
                let exists = FileManager.default.fileExists(atPath: path)
                throw Failure(description: "\(path): \(exists ? "cannot be read" : "there is no such file")")
            }
            self.handle = handle
            let attributes = try? FileManager.default.attributesOfItem(atPath: path)
            guard attributes?[.type] as? FileAttributeType != .typeDirectory else {
                throw Failure(description: "\(path): is a folder; name the files in it")
            }
            size = attributes?[.type] as? FileAttributeType == .typeRegular ? attributes?[.size] as? Int : nil
            modified = attributes?[.modificationDate] as? Date
        }
        if let known = format ?? EventFileFormat(fileName: path) {
            self.format = known
        } else {
            let text = try Self.read(handle, name, atLeast: EventFileFormat.beginningLength)
            beginning = text
            self.format = EventFileFormat(ofTextBeginning: Array(text))
        }
        splitter = EventFileSplitter(self.format)
    }

    deinit { try? handle.close() }

    /// The items that the next piece completes, possibly none; `nil` at the end of the file.
    package func next() throws(Failure) -> [EventFileItem]? {
        guard !isFinished else { return nil }
        let piece: Data
        if let beginning {
            piece = beginning
            self.beginning = nil
        } else {
            piece = try Self.read(handle, name, atLeast: 1)
        }
        bytesRead += piece.count
        var items: [EventFileItem] = []
        if piece.isEmpty {
            isFinished = true
            splitter.finish(into: &items)
        } else {
            splitter.feed(piece, into: &items)
        }
        return items
    }

    /// Returns fewer bytes than requested only at the end.
    private static func read(_ handle: FileHandle, _ name: String, atLeast count: Int) throws(Failure) -> Data {
        var bytes = Data()
        do {
            repeat {
                guard let piece = try handle.read(upToCount: pieceLength), !piece.isEmpty else { return bytes }
                bytes += piece
            } while bytes.count < count
        } catch {
            throw Failure(description: "\(name): reading failed before the end")
        }
        return bytes
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

    /// The length of text that `init(ofTextBeginning:)` needs, in bytes.
    static let beginningLength = 64 * 1024

    /// Detects the format by the name's ending; `nil` if that is not certain.
    init?(fileName: String) {
        switch fileName.lowercased().split(separator: ".").last {
        case "ndjson", "jsonl": self = .ndjson
        case "csv": self = .csv
        default: return nil
        }
    }

    /// Detects the format by the beginning of the text.
    package init(ofTextBeginning bytes: [UInt8]) {
        let text = bytes.drop { $0 <= UInt8(ascii: " ") || [0xEF, 0xBB, 0xBF].contains($0) }
        switch text.first {
        case UInt8(ascii: "["): self = .array
        case UInt8(ascii: "{"):
            // In NDJSON the first line is a complete object; in a document it leaves one open.
            let line = text.prefix { $0 != UInt8(ascii: "\n") }
            var scan = JSONScan()
            for byte in line { scan.read(byte) }
            self = scan.depth == 0 && !scan.isInString ? .ndjson : .document
        default: self = .csv
        }
    }
}
