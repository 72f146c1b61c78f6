import NIOCore
import Synchronization

/// The connections of one server by the time that they have done nothing, and those of them that give way.
///
/// A client that was just accepted is the last to give way: so a crowd of idle connections only displaces itself.
final class ConnectionRegister: Sendable {
    private struct Entry: Sendable {
        var since: NIODeadline
        var isAnswering = false
        var isStream = false
        let end: @Sendable () -> Void
    }

    /// A server that owes an answer has not kept its client waiting for long before this.
    private static let answerTime = TimeAmount.seconds(1)

    private let streamsMax: Int
    private let entries = Mutex<[ObjectIdentifier: Entry]>([:])

    init(streamsMax: Int) { self.streamsMax = streamsMax }

    /// - Parameter end: closes the connection; called from any thread, at most once.
    func add(_ id: ObjectIdentifier, at now: NIODeadline, end: @escaping @Sendable () -> Void) {
        entries.withLock { $0[id] = Entry(since: now, end: end) }
    }

    func remove(_ id: ObjectIdentifier) {
        entries.withLock { _ = $0.removeValue(forKey: id) }
    }

    func note(_ id: ObjectIdentifier, _ phase: ConnectionPhase) {
        entries.withLock { entries in
            entries[id]?.since = phase.since
            entries[id]?.isAnswering = phase.activity == .answering
        }
    }

    /// The connection's answer is a stream, which is not idle even if it has nothing to tell. The oldest stream gives way
    /// if it is one too many.
    func becomesStream(_ id: ObjectIdentifier) {
        let victim = entries.withLock { entries -> Entry? in
            entries[id]?.isStream = true
            guard entries.values.count(where: \.isStream) > streamsMax else { return nil }
            return Self.takeOldest(of: &entries) { $0.isStream }
        }
        victim?.end()
    }

    /// Ends the connection that has done nothing for the longest time.
    /// - Returns: false if all are streams or about to be answered.
    @discardableResult
    func makeRoom(at now: NIODeadline) -> Bool {
        let victim = entries.withLock { entries in
            Self.takeOldest(of: &entries) { entry in
                !entry.isStream && !(entry.isAnswering && now - entry.since < Self.answerTime)
            }
        }
        victim?.end()
        return victim != nil
    }

    private static func takeOldest(
        of entries: inout [ObjectIdentifier: Entry], where mayEnd: (Entry) -> Bool
    ) -> Entry? {
        var oldest: (id: ObjectIdentifier, since: NIODeadline)?
        for (id, entry) in entries where mayEnd(entry) && oldest.map({ entry.since < $0.since }) ?? true {
            oldest = (id, entry.since)
        }
        return oldest.flatMap { entries.removeValue(forKey: $0.id) }
    }
}
