public import NewsModel

/// An event in Kafka that concerns an engine: one list for the service and the simulation.
///
/// A generation counts the assignments of a lane: anything older than the last `assigned` is obsolete.
public enum KafkaEvent: Sendable {
    /// The lane's partitions of this shard, possibly none; every shard gets every assignment. They are held until resumed.
    /// Anything assigned before is gone.
    case assigned(LaneID, Generation, [TopicPartition])
    /// A part of the ledger, in answer to `restore`; `end` comes with the last part of a results partition.
    case restored(LaneID, Generation, results: TopicPartition, entries: [LedgerEntry], end: RestoreEnd?)
    /// The results partition cannot be read for now. It is tried again until it works or the generation is over.
    case restoreFailed(LaneID, Generation, results: TopicPartition, KafkaFailure)
    /// In offset order; offsets may have gaps.
    case records(LaneID, Generation, TopicPartition, [SourceRecord])
    /// Nothing stood at `offset` a moment ago: everything before it was delivered, or is a gap.
    case endReached(LaneID, Generation, TopicPartition, offset: Int64)
    /// The partition's offsets start again: its topic was deleted and created again, or cut back. Nothing more of the former
    /// incarnation comes. Finish its records, then answer with `rewind`.
    case beganAnew(LaneID, Generation, TopicPartition)
    /// Finish the work under way, commit, then `release`. If `lost`, others own the partitions already: nothing can be
    /// committed and nothing needs to be released.
    case revoked(LaneID, Generation, [TopicPartition], lost: Bool)
    /// Results and dead letters that the broker acknowledged.
    case stored([StoredRecord])
    /// Originals that are too large for the held topic, by the broker's word: nothing of them is stored.
    case tooLargeToHold([DeliveryID])
    /// The answer to one `commit`. Partitions that are not in `offsets` were refused.
    case committed(LaneID, Generation, offsets: [PartitionOffset], failure: KafkaFailure?)
    /// The partition count of each topic; topics that do not exist are absent. `readIn` has, by lane, the generation when the
    /// reading began: a count read before an assignment says nothing about it.
    case partitionCounts([String: Int], readIn: [Generation])
}
