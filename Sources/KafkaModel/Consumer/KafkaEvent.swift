public import NewsModel

/// What happens in Kafka, as the engine of the shard it concerns hears of it: one list for the service and the simulation.
///
/// A generation counts the assignments of a lane: what belongs to an older one than the last `assigned` is history.
public enum KafkaEvent: Sendable {
    /// The lane's partitions of this shard, possibly none; every shard hears of every assignment. They are held until
    /// resumed. Anything assigned before is gone.
    case assigned(LaneID, Generation, [TopicPartition])
    /// A part of the ledger, in answer to `restore`; `end` comes with the last part of a results partition.
    case restored(LaneID, Generation, results: TopicPartition, entries: [LedgerEntry], end: RestoreEnd?)
    /// The results partition cannot be read for now. It is tried again until it works or the generation is over.
    case restoreFailed(LaneID, Generation, results: TopicPartition, KafkaFailure)
    /// In offset order; offsets may have gaps.
    case records(LaneID, Generation, TopicPartition, [SourceRecord])
    /// Nothing stood at `offset` a moment ago: everything before it was delivered, or is a gap.
    case endReached(LaneID, Generation, TopicPartition, offset: Int64)
    /// The partition's offsets start again: its topic was deleted and made again, or cut back. Nothing more of the former
    /// incarnation comes. Finish what was read of it, then answer with `rewind`.
    case beganAnew(LaneID, Generation, TopicPartition)
    /// Finish what is under way, commit, then `release`. When `lost`, others own the partitions already: nothing can be
    /// committed and nothing needs to be released.
    case revoked(LaneID, Generation, [TopicPartition], lost: Bool)
    /// Results and dead letters that the broker acknowledged.
    case stored([StoredRecord])
    /// The answer to one `commit`. Partitions that are not in `offsets` were refused.
    case committed(LaneID, Generation, offsets: [PartitionOffset], failure: KafkaFailure?)
    /// How many partitions each topic has; topics that do not exist are absent. `readIn` has, by lane, the generation when
    /// the reading began: a count read before an assignment says nothing about it.
    case partitionCounts([String: Int], readIn: [Generation])
}
