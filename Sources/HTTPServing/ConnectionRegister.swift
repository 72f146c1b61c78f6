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

    private let limits: ConnectionLimits
    private let entries = Mutex<[ObjectIdentifier: Entry]>([:])

    init(_ limits: ConnectionLimits) { self.limits = limits }

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
            if phase.activity != .answering { entries[id]?.isStream = false }
        }
    }

    /// The connection's next answer is a stream, which is not idle even if it has nothing to tell.
    /// - Returns: false if there are as many as there may be, and none is old enough to give way.
    func beginStream(_ id: ObjectIdentifier, at now: NIODeadline) -> Bool {
        let (mayBegin, victim) = entries.withLock { entries -> (Bool, Entry?) in
            let isFull = entries.values.count(where: \.isStream) >= limits.streamsMax
            let oldest = Self.takeOldest(of: &entries) { entry in
                isFull && entry.isStream && now - entry.since >= TimeAmount(limits.streamTime)
            }
            guard !isFull || oldest != nil else { return (false, nil) }
            entries[id]?.isStream = true
            return (true, oldest)
        }
        victim?.end()
        return mayBegin
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
