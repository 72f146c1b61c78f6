internal import NewsModel
package import NotificationHub

/// A place among a pool's requests in flight. Another request may take the place after this one has ended.
public struct RequestSlot: Hashable, Sendable {
    public let index: Int

    public init(_ index: Int) { self.index = index }
}

/// A request that has not ended.
package struct PooledRequest {
    package let id: RequestID
    package let request: HubCall
    /// Counts the requests in the order in which they were sent.
    let number: UInt64
    /// The time at which the owner decided to send it.
    let since: Instant
    /// The number of times that a server has refused to process it.
    var refusals = 0
}

/// The requests that a pool has written, or is about to write. There are never more than the pool may have in flight,
/// however many connections carry them.
struct RequestsInFlight {
    struct Entry {
        var pooled: PooledRequest
        let connection: ConnectionID
        /// The end of the time for a reply.
        let until: Instant
    }

    private var entries: [Entry?]
    private var vacant: [RequestSlot]

    init(most: Int) {
        entries = Array(repeating: nil, count: most)
        vacant = (0..<most).reversed().map { RequestSlot($0) }
    }

    /// The number of further requests that may be in flight.
    var room: Int { vacant.count }
    var hasRoom: Bool { !vacant.isEmpty }

    /// The request in the slot; `nil` unless that connection carries it.
    func request(in slot: RequestSlot, on connection: ConnectionID) -> PooledRequest? {
        entries[slot.index]?.connection == connection ? entries[slot.index]?.pooled : nil
    }

    /// - Returns: `nil` if there is no room.
    mutating func add(_ pooled: consuming PooledRequest, on connection: ConnectionID, until: Instant) -> RequestSlot? {
        guard let slot = vacant.popLast() else { return nil }
        entries[slot.index] = Entry(pooled: pooled, connection: connection, until: until)
        return slot
    }

    /// Removes and returns the request; `nil` unless that connection carries it.
    mutating func remove(_ slot: RequestSlot, from connection: ConnectionID) -> PooledRequest? {
        guard entries[slot.index]?.connection == connection else { return nil }
        vacant.append(slot)
        return exchange(&entries[slot.index], with: nil)?.pooled
    }

    /// Removes and returns the requests that the connection carries.
    mutating func removeAll(from connection: ConnectionID) -> [PooledRequest] {
        entries.indices.compactMap { remove(RequestSlot($0), from: connection) }
    }

    /// The requests whose time for a reply is over.
    func expired(at now: Instant) -> [(RequestSlot, ConnectionID)] {
        entries.indices.compactMap { index in
            entries[index].flatMap { $0.until <= now ? (RequestSlot(index), $0.connection) : nil }
        }
    }

    var nextDeadline: Instant { entries.reduce(.distantFuture) { min($0, $1?.until ?? .distantFuture) } }
}
