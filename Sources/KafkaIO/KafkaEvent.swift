public import NewsModel

/// What happens in Kafka, as told to the shard it concerns. `generation` counts the assignments of a lane: what
/// belongs to an older one than the last `assigned` is history.
public enum KafkaEvent: Sendable {
    /// The lane's partitions of this shard, possibly none; every shard hears of every assignment. They are held
    /// until resumed. Anything assigned before is gone.
    case assigned(lane: Int, generation: Int, partitions: [TopicPartition])
    /// In offset order; offsets may have gaps.
    case records(lane: Int, generation: Int, partition: TopicPartition, records: [SourceRecord])
    /// Nothing stood at `offset` a moment ago: all before it was delivered.
    case endReached(lane: Int, generation: Int, partition: TopicPartition, offset: Int64)
    /// Finish what is under way, commit, then `release`. When `lost`, others own the partitions already: nothing can
    /// be committed and nothing needs to be released. Also sent, to every shard, on `close`.
    case revoked(lane: Int, generation: Int, partitions: [TopicPartition], lost: Bool)
    case stored([StoredRecord])
    /// The answer to one `commit`: this shard's part of it.
    case committed(lane: Int, offsets: [PartitionOffset], failure: KafkaFailure?)
    /// A part of the ledger; `end` is set on the last part of a restore.
    case restored(lane: Int, generation: Int, results: TopicPartition, entries: [LedgerEntry], end: RestoreEnd?)
    /// Sent to shard 0 only, like `log` and `statistics`.
    case trouble(KafkaFailure)
    /// A line of librdkafka's log; `severity` as in syslog, 0 the worst.
    case log(severity: Int, text: String)
    /// Every `statistics.interval.ms`, of a lane's consumer or, with `nil`, of the producer.
    case statistics(lane: Int?, KafkaStatistics)
    /// The last event of every shard.
    case closed
}
