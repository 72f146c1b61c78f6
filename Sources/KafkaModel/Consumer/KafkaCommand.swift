public import NewsModel

/// A request of an engine to Kafka. Commands of one engine are carried out in order; none of them blocks.
public enum KafkaCommand: Sendable {
    /// Read the ledger back: the results partition to its present end, for these source partitions; `restored` follows.
    case restore(LaneID, Generation, results: TopicPartition, sources: [TopicPartition], RestoreStart)
    /// Grants this much more to read for the lane. The last record may exceed the bytes; later grants are reduced by
    /// the excess. Credit outlives a rebalance.
    case grant(LaneID, records: Int, bytes: Int)
    /// Pause reading of a partition; records read before may still arrive.
    case pause(TopicPartition, LaneID, Generation)
    /// Resume reading of a partition, within the credit.
    case resume(TopicPartition, LaneID, Generation)
    /// The former incarnation is finished: read the new one from its beginning, once resumed.
    case rewind(TopicPartition, LaneID, Generation)
    /// Commit these offsets in one request of the lane's group, which may include partitions of topics it does not read;
    /// `committed` follows.
    case commit(LaneID, Generation, [PartitionOffset])
    /// The generation's work is settled as far as possible: release the partitions.
    case release(LaneID, Generation)
}

/// An offset in a partition: the next one to read.
public struct PartitionOffset: Sendable, Hashable {
    public var partition: TopicPartition
    public var offset: Int64
    /// With a committed offset: the progress of the partition's deliveries that need several sends.
    public var progress: [SendProgress]

    public init(_ partition: TopicPartition, _ offset: Int64, progress: [SendProgress] = []) {
        self.partition = partition
        self.offset = offset
        self.progress = progress
    }
}
