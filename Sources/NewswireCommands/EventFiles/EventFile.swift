import Foundation

/// A file of events, or standard input, read piece by piece.
final class EventFile {
    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    /// How the file is named in messages.
    let name: String
    let format: EventFileFormat
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
    ///   - format: `nil` to find out by the name, else by how the text begins.
    init(path: String, format: EventFileFormat? = nil) throws(Failure) {
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

    /// What the next piece completes, possibly nothing; `nil` when the file is at its end.
    func next() throws(Failure) -> [EventFileItem]? {
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

    /// Fewer bytes than asked for only at the end.
    private static func read(_ handle: FileHandle, _ name: String, atLeast count: Int) throws(Failure) -> Data {
        var bytes = Data()
        do {
            repeat {
                guard let piece = try handle.read(upToCount: pieceLength), !piece.isEmpty else { return bytes }
                bytes += piece
            } while bytes.count < count
        } catch {
            throw Failure(description: "\(name): cannot be read any further")
        }
        return bytes
    }
}
