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
    private var reported = ConnectionNeed()
    private var reportedAt = Instant.distantPast
    /// The most requests in flight since the last regular report, and between the two before.
    private var peaks = (now: 0, before: 0)

    /// The shortest time between two reports of the same wish.
    private static let interval = Duration.milliseconds(1)

    init(_ shared: SharedConnections, of shard: ShardID) {
        (self.shared, self.shard) = (shared, shard)
        connections = shared.share(of: shard)
    }

    /// True if requests above the share have ended, which others may wait for, or if the shard needs a larger share.
    mutating func isDue(_ engine: borrowing Engine, at now: Instant) -> Bool {
        let inFlight = engine.requestsInFlight
        peaks.now = max(peaks.now, inFlight)
        if reported.inFlight > connections, inFlight < reported.inFlight { return true }
        let isRepeated = reported.urgent + reported.others > 0
        return (!isRepeated || now - reportedAt >= Self.interval) && engine.waitsForConnections(at: now)
    }

    /// - Returns: true if the share has changed.
    mutating func report(_ need: ConnectionNeed, at now: Instant) -> Bool {
        let before = connections
        (reported, reportedAt) = (need, now)
        reported.recent = max(peaks.now, peaks.before)
        connections = shared.report(shard, reported)
        return connections != before
    }

    /// Ends a period between two regular reports.
    mutating func endPeriod() { peaks = (0, peaks.now) }
}
