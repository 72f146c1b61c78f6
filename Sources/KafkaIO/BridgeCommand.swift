import NewsModel

/// What shards ask of the polling thread.
enum BridgeCommand: Sendable {
    case grant(lane: Int, shard: Int, records: Int, bytes: Int)
    case hold(lane: Int, generation: Int, TopicPartition, Bool)
    case commit(lane: Int, generation: Int, shard: Int, [PartitionOffset])
    case release(lane: Int, generation: Int, shard: Int)
    /// Hands an event on, so that one thread alone delivers.
    case forward(shard: Int, KafkaEvent)
    case close
}
