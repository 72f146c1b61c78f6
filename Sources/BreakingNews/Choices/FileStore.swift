public import Foundation
import Synchronization

/// One JSON file with a member for each value.
///
/// A file that is missing, damaged or in another format counts as empty, and the next save replaces it. A file that
/// exists but cannot be read now, for example while the device is locked, is not replaced; saving then throws.
public final class FileStore: LocalStore {
    /// The longest file, in bytes; a longer one counts as damaged.
    public static let lengthMax = 1024 * 1024

    public let url: URL
    /// Serialises saves, each of which reads, changes and writes the file.
    private let turn = Mutex(())

    public init(_ url: URL) { self.url = url }

    public func data(named name: String) -> Data? {
        turn.withLock { _ in (try? members())?[name] }
            .flatMap { try? JSONSerialization.data(withJSONObject: $0, options: .fragmentsAllowed) }
    }

    public func save(_ json: Data, named name: String) throws {
        try turn.withLock { _ in
            var members = try members()
            members[name] = try JSONSerialization.jsonObject(with: json, options: .fragmentsAllowed)
            let options: JSONSerialization.WritingOptions = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            // An atomic write, so that a crash leaves either the old file or the new one.
            try JSONSerialization.data(withJSONObject: members, options: options).write(to: url, options: .atomic)
        }
    }

    private func members() throws -> [String: Any] {
        let data: Data?
        do {
            data = try FileHandle(forReadingFrom: url).read(upToCount: Self.lengthMax + 1)
        } catch let error as CocoaError where [.fileReadNoSuchFile, .fileNoSuchFile].contains(error.code) {
            return [:]
        }
        guard let data, data.count <= Self.lengthMax else { return [:] }
        return (try? JSONSerialization.jsonObject(with: data)) as? [String: Any] ?? [:]
    }
}
