public import NewsModel

/// An event in Kafka that concerns an engine: one list for the service and the simulation.
///
/// A generation counts the assignments of a lane; inputs of earlier generations are obsolete.
public enum KafkaEvent: Sendable {
    /// The lane's partitions of this shard, possibly empty; every shard gets every assignment. They are paused until
    /// resumed. Earlier assignments are gone.
    case assigned(LaneID, Generation, [TopicPartition])
    /// A part of the ledger, in answer to `restore`; `end` comes with the last part of a results partition.
    case restored(LaneID, Generation, results: TopicPartition, entries: [LedgerEntry], end: RestoreEnd?)
    /// The results partition cannot be read for now. Reading is retried until it works or the generation is over.
    case restoreFailed(LaneID, Generation, results: TopicPartition, KafkaFailure)
    /// Records in offset order; offsets may have gaps.
    case records(LaneID, Generation, TopicPartition, [SourceRecord])
    /// No record existed at `offset` a moment ago: all earlier ones were delivered, or are gaps.
    case endReached(LaneID, Generation, TopicPartition, offset: Int64)
    /// The partition's offsets start again: its topic was recreated or truncated. No more records of the former
    /// incarnation follow. Finish its records, then answer with `rewind`. `incarnation`: its number (see `CommitNote`).
    case restarted(LaneID, Generation, TopicPartition, incarnation: Int)
    /// Finish work in flight, commit, then `release`. If `lost`, others own the partitions already: no commit and no
    /// release is possible.
    case revoked(LaneID, Generation, [TopicPartition], lost: Bool)
    /// Results and dead letters that the broker acknowledged.
    case stored([StoredRecord])
    /// Originals that the broker refused as too large for the held topic; they are not stored.
    case tooLargeToHold([DeliveryID])
    /// The answer to one `commit`. Partitions that are not in `offsets` were refused.
    case committed(LaneID, Generation, offsets: [PartitionOffset], failure: KafkaFailure?)
    /// The partition count of each topic; missing topics are absent. `readIn` has, by lane, the generation when reading
    /// began: a count read before an assignment is not valid for it.
    case partitionCounts([String: Int], readIn: [Generation])
}
