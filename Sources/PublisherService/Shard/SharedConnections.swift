import KafkaModel
import NewsModel
import PublishEngine
import Synchronization

/// The process's limit of requests in flight, which the shards divide among themselves.
final class SharedConnections: Sendable {
    private let shares: Mutex<ConnectionShares>
    private let ask: @Sendable (ShardID) -> Void

    /// - Parameter ask: makes a shard report on its own event loop.
    init(most: Int, shards: Int, ask: @escaping @Sendable (ShardID) -> Void) {
        shares = Mutex(ConnectionShares(most: most, shards: shards))
        self.ask = ask
    }

    func share(of shard: ShardID) -> Int { shares.withLock { $0.share(of: shard.index) } }

    /// Reports what the shard needs.
    ///
    /// - Returns: the requests that the shard may have in flight from now on.
    func report(_ shard: ShardID, _ need: ConnectionNeed) -> Int {
        let (share, others) = shares.withLock { shares in
            let others = shares.report(shard.index, need)
            return (shares.share(of: shard.index), others)
        }
        for other in others { ask(ShardID(other)) }
        return share
    }
}

/// A shard's part of the shared connections. Confined to the shard's event loop.
struct ConnectionShare {
    /// The most requests that the shard may have in flight.
    private(set) var connections: Int
    private let shared: SharedConnections
    private let shard: ShardID
    private var reportedAt = Instant.distantPast
    private var callsUntilClosing = 0

    private static let interval = Duration.milliseconds(1)

    init(_ shared: SharedConnections, of shard: ShardID) {
        (self.shared, self.shard) = (shared, shard)
        connections = shared.share(of: shard)
    }

    /// True if others wait for what the shard has too much, or the shard waits for more.
    func isDue(_ engine: borrowing Engine, at now: Instant) -> Bool {
        engine.requestsInFlight > connections
            || engine.waitsForConnections && now - reportedAt >= Self.interval
    }

    /// - Returns: true if the share has changed.
    mutating func report(_ need: ConnectionNeed, at now: Instant) -> Bool {
        reportedAt = now
        let before = connections
        connections = shared.report(shard, need)
        return connections != before
    }

    /// True every tenth time. Connections above the share are not closed at once, because the next burst may need them.
    mutating func isTimeToClose() -> Bool {
        callsUntilClosing = callsUntilClosing > 0 ? callsUntilClosing - 1 : 9
        return callsUntilClosing == 9
    }
}
