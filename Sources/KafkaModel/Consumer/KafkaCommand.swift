public import NewsModel

/// A request of an engine to Kafka. Commands of one engine are carried out in order; none of them blocks.
public enum KafkaCommand: Sendable {
    /// Read the ledger back: the results partition to its present end, for these source partitions; `restored` follows.
    case restore(LaneID, Generation, results: TopicPartition, sources: [TopicPartition], RestoreStart)
    /// Allow this much more to be read for the lane. The last record may overdraw the bytes; the debt is taken from later
    /// grants. Credit outlives a rebalance.
    case grant(LaneID, records: Int, bytes: Int)
    /// Stop reading a partition; what was read before may still arrive.
    case hold(TopicPartition, LaneID, Generation)
    /// Read a partition, as far as credit goes.
    case resume(TopicPartition, LaneID, Generation)
    /// The former incarnation is finished: read the new one from its beginning, once resumed.
    case rewind(TopicPartition, LaneID, Generation)
    /// Commit these offsets in one request of the lane's group, which may include partitions of topics it does not read;
    /// `committed` follows.
    case commit(LaneID, Generation, [PartitionOffset])
    /// Everything of this generation is settled as far as it can be: give the partitions up.
    case release(LaneID, Generation)
}
