public import Foundation
import Synchronization

/// Persistent storage for small named values.
public protocol LocalStore: Sendable {
    /// The value, or `nil` if it is missing or unreadable.
    func data(named name: String) -> Data?
    /// Stores JSON under a name and replaces the old value. Concurrent readers see either the old or the new value.
    func save(_ json: Data, named name: String) throws
}

extension LocalStore {
    func value<Value: Decodable>(_ type: Value.Type, named name: String) -> Value? {
        data(named: name).flatMap { try? JSONDecoder().decode(type, from: $0) }
    }

    func save(value: some Encodable, named name: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        try save(try encoder.encode(value), named: name)
    }
}

/// Keeps values in memory only: for previews, tests and guests.
public final class MemoryStore: LocalStore {
    private let values = Mutex<[String: Data]>([:])

    public init() {}

    public func data(named name: String) -> Data? { values.withLock { $0[name] } }

    public func save(_ json: Data, named name: String) throws { values.withLock { $0[name] = json } }
}

#if canImport(Darwin)
public import Foundation

/// Values in the app's user defaults.
public struct DefaultsStore: LocalStore {
    /// The prefix of all names in the user defaults.
    private static let prefix = "BreakingNews."
    private let suite: String?

    /// - Parameter suite: an app group, to share values with extensions; `nil` for the app's own defaults.
    public init(suite: String? = nil) { self.suite = suite }

    private var defaults: UserDefaults { suite.flatMap { UserDefaults(suiteName: $0) } ?? .standard }

    public func data(named name: String) -> Data? { defaults.data(forKey: Self.prefix + name) }

    public func save(_ json: Data, named name: String) throws { defaults.set(json, forKey: Self.prefix + name) }
}
#endif
