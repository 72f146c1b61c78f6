public import Foundation
import Synchronization

/// Forgets everything with the process: for previews, tests and guests.
public final class MemoryStore: LocalStore {
    private let values = Mutex<[String: Data]>([:])

    public init() {}

    public func data(named name: String) -> Data? { values.withLock { $0[name] } }

    public func save(_ json: Data, named name: String) throws { values.withLock { $0[name] = json } }
}
