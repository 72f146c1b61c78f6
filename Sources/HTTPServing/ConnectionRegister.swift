import NIOCore
import Synchronization

/// The connections of one server, ordered by idle time, and the choice of those to close.
///
/// The most recently accepted client is closed last, so that a crowd of idle connections displaces only itself.
final class ConnectionRegister: Sendable {
    private struct Entry: Sendable {
        var since: NIODeadline
        var isAnswering = false
        var isStream = false
        /// Bytes for its HTTP/2 requests and for the unread parts of their answers.
        var held = 0
        let end: @Sendable () -> Void
    }

    private struct State: Sendable {
        var entries: [ObjectIdentifier: Entry] = [:]
        /// The sum of `held` over all entries.
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

        /// - Parameter bytes: negative to release memory.
        mutating func hold(_ id: ObjectIdentifier, _ bytes: Int) {
            guard entries[id] != nil else { return }
            entries[id]?.held += bytes
            held += bytes
        }
    }

    /// A connection that waits for its answer cannot be closed before this time has passed.
    private static let answerTime = TimeAmount.seconds(1)

    private let limits: ConnectionLimits
    private let state = Mutex(State())

    init(_ limits: ConnectionLimits) { self.limits = limits }

    /// - Parameter end: closes the connection. Called at most once, from any thread.
    func add(_ id: ObjectIdentifier, at now: NIODeadline, end: @escaping @Sendable () -> Void) {
        state.withLock { $0.entries[id] = Entry(since: now, end: end) }
    }

    func remove(_ id: ObjectIdentifier) { state.withLock { _ = $0.remove(id) } }

    // MARK: Memory

    /// Reserves memory for a connection's requests or answers.
    /// - Parameter isRequest: true for a new request. Requests get only half of the limit, so that answers have room.
    /// - Returns: false if the connection is at its limit or is being closed. In this case nothing is reserved.
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

    /// Releases memory that `hold` has reserved.
    func release(_ id: ObjectIdentifier, _ bytes: Int) { state.withLock { $0.hold(id, -bytes) } }

    // MARK: Idle connections

    func note(_ id: ObjectIdentifier, _ phase: ConnectionPhase) {
        state.withLock { state in
            state.entries[id]?.since = phase.since
            state.entries[id]?.isAnswering = phase.activity == .answering
            if phase.activity != .answering { state.entries[id]?.isStream = false }
        }
    }

    /// Registers the connection's next answer as a stream. A stream does not count as idle even if it is silent.
    /// - Returns: false at the limit of streams if no stream is old enough to be closed.
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

    /// Closes the connection that has been idle longest.
    /// - Returns: false if every connection is a stream or has only just begun to wait for an answer.
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
