public import NewsModel

/// An event for one member of a group that shares a topic. The owner of a compacted topic's partition keeps all of it
/// in memory, and writes its changes.
public enum SharedStateEvent: Sendable, Hashable {
    /// The group assigned these partitions; all others are gone. Their records follow. Commits name the generation.
    case assigned([Int32], Generation)
    /// Records in order. Our own writes are read back this way too.
    case records(partition: Int32, [SourceRecord])
    /// All records below this offset were removed, and not by compaction. Comes before `restored` or at any time after it.
    case removed(partition: Int32, below: Int64)
    /// All records that the partition had at its assignment were handed over.
    case restored(partition: Int32)
    /// Finish work in flight, then release: the group waits, up to a deadline.
    case revoked([Int32])
    /// The partitions are no longer ours, and nothing may be written to them.
    case lost([Int32])
    /// The topic was recreated: the partition is empty but still ours. Followed by `restored`.
    case restarted(partition: Int32)
    /// The answer to a commit; `nil` if the broker accepted all of it.
    case committed(KafkaFailure?)
    /// All records of a write are on every in-sync replica.
    case written(UInt64)
    /// The records at these places of a write will never be stored, for their own fault; all others are.
    case refused(UInt64, records: [Int], KafkaFailure)
    /// Some record of a write was not stored. The write may be retried.
    case notWritten(UInt64, KafkaFailure)
}
