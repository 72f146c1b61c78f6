import KafkaModel
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
