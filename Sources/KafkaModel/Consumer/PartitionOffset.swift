public import NewsModel

/// An offset in a partition: the next one to read.
public struct PartitionOffset: Sendable, Hashable {
    public var partition: TopicPartition
    public var offset: Int64

    public init(_ partition: TopicPartition, _ offset: Int64) {
        self.partition = partition
        self.offset = offset
    }
}
