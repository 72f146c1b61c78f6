public import Foundation

/// Small values that outlive the process, by name.
public protocol LocalStore: Sendable {
    /// `nil` when there is none, or none that can be read.
    func data(named name: String) -> Data?
    /// Keeps JSON under a name, in place of what was there; whoever reads at the same time sees the old or the new.
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
