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
        /// Bytes for its requests of HTTP/2, and for the answers that it has not read.
        var held = 0
        let end: @Sendable () -> Void
    }

    private struct State: Sendable {
        var entries: [ObjectIdentifier: Entry] = [:]
        /// The sum of what all entries hold.
        var held = 0

        mutating func remove(_ id: ObjectIdentifier) -> Entry? {
            guard let entry = entries.removeValue(forKey: id) else { return nil }
            held -= entry.held
            return entry
        }

        mutating func removeOldest(where mayEnd: (Entry) -> Bool) -> Entry? {
            var oldest: (id: ObjectIdentifier, since: NIODeadline)?
            for (id, entry) in entries where mayEnd(entry) && oldest.map({ entry.since < $0.since }) ?? true {
                oldest = (id, entry.since)
            }
            return oldest.flatMap { remove($0.id) }
        }

        /// - Parameter bytes: negative when they are given back.
        mutating func hold(_ id: ObjectIdentifier, _ bytes: Int) {
            guard entries[id] != nil else { return }
            entries[id]?.held += bytes
            held += bytes
        }
    }

    /// A server that owes an answer has not kept its client waiting for long before this.
    private static let answerTime = TimeAmount.seconds(1)

    private let limits: ConnectionLimits
    private let state = Mutex(State())

    init(_ limits: ConnectionLimits) { self.limits = limits }

    /// - Parameter end: closes the connection; called from any thread, at most once.
    func add(_ id: ObjectIdentifier, at now: NIODeadline, end: @escaping @Sendable () -> Void) {
        state.withLock { $0.entries[id] = Entry(since: now, end: end) }
    }

    func remove(_ id: ObjectIdentifier) {
        state.withLock { _ = $0.remove(id) }
    }

    // MARK: Memory

    /// Takes memory for a connection's requests or answers.
    /// - Parameter isRequest: a new one, which needs room for its answer later: requests alone get half of what there is.
    /// - Returns: false if the connection has as much as it may have, or is being closed; then nothing is taken.
    func hold(_ id: ObjectIdentifier, _ bytes: Int, isRequest: Bool = false) -> Bool {
        let most = isRequest ? limits.heldByConnectionMax / 2 : limits.heldByConnectionMax
        let (isHeld, victim) = state.withLock { state -> (Bool, Entry?) in
            guard let held = state.entries[id]?.held, held + bytes <= most else {
                return (false, nil)
            }
            state.hold(id, bytes)
            guard state.held > limits.heldMax else { return (true, nil) }
            let most = state.entries.max { $0.value.held < $1.value.held }
            return (true, most.flatMap { state.remove($0.key) })
        }
        victim?.end()
        return isHeld
    }

    /// Gives back what `hold` has taken.
    func release(_ id: ObjectIdentifier, _ bytes: Int) {
        state.withLock { $0.hold(id, -bytes) }
    }

    // MARK: Idle connections

    func note(_ id: ObjectIdentifier, _ phase: ConnectionPhase) {
        state.withLock { state in
            state.entries[id]?.since = phase.since
            state.entries[id]?.isAnswering = phase.activity == .answering
            if phase.activity != .answering { state.entries[id]?.isStream = false }
        }
    }

    /// The connection's next answer is a stream, which is not idle even if it has nothing to tell.
    /// - Returns: false if there are as many as there may be, and none is old enough to give way.
    func beginStream(_ id: ObjectIdentifier, at now: NIODeadline) -> Bool {
        let (mayBegin, victim) = state.withLock { state -> (Bool, Entry?) in
            let isFull = state.entries.values.count(where: \.isStream) >= limits.streamsMax
            let oldest = state.removeOldest { entry in
                isFull && entry.isStream && now - entry.since >= TimeAmount(limits.streamTime)
            }
            guard !isFull || oldest != nil else { return (false, nil) }
            state.entries[id]?.isStream = true
            return (true, oldest)
        }
        victim?.end()
        return mayBegin
    }

    /// Ends the connection that has done nothing for the longest time.
    /// - Returns: false if all are streams or about to be answered.
    @discardableResult
    func makeRoom(at now: NIODeadline) -> Bool {
        let victim = state.withLock { state in
            state.removeOldest { entry in
                !entry.isStream && !(entry.isAnswering && now - entry.since < Self.answerTime)
            }
        }
        victim?.end()
        return victim != nil
    }
}
