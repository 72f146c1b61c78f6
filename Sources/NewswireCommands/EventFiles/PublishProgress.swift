import Foundation

/// How far a file was published, kept beside it, so that the same command can go on after an interruption.
struct PublishProgress: Codable, Hashable {
    /// Where the events went.
    var topic: String
    /// The file's size in bytes and time of change, by which it is recognised.
    var size: Int
    var modified: Date
    /// All events up to this number are acknowledged by the broker; the bad ones among them are counted too.
    var events: Int

    static func path(for file: String) -> String { file + ".newswire-progress" }

    /// `nil` when there is none.
    static func load(for file: String) throws(EventFile.Failure) -> PublishProgress? {
        let path = path(for: file)
        guard let bytes = FileManager.default.contents(atPath: path) else { return nil }
        do {
            return try JSONDecoder().decode(PublishProgress.self, from: bytes)
        } catch {
            throw EventFile.Failure(
                description: "\(path): is not what newswire wrote; remove it to publish \(file) from its beginning")
        }
    }

    func save(for file: String) throws(EventFile.Failure) {
        let path = Self.path(for: file)
        do {
            try JSONEncoder().encode(self).write(to: URL(fileURLWithPath: path), options: .atomic)
        } catch {
            throw EventFile.Failure(
                description: "\(path): cannot be written; make the folder writable, or use --no-resume")
        }
    }

    static func remove(for file: String) {
        try? FileManager.default.removeItem(atPath: path(for: file))
    }

    /// Why this progress is not about that file and topic; `nil` when it is.
    func mismatch(_ other: PublishProgress) -> String? {
        if topic != other.topic { return "was begun on topic \(topic)" }
        if size != other.size || modified != other.modified { return "has changed since it was interrupted" }
        return nil
    }
}
