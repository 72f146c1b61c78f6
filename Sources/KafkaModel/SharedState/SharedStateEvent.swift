public import NewsModel

/// What happens to one member of a group that shares a topic out. Of a compacted topic, who owns a partition keeps all of it in
/// memory, and writes what changes to it.
public enum SharedStateEvent: Sendable, Hashable {
    /// The group gave us these partitions, and nothing else is ours from now on. Their records follow.
    case assigned([Int32])
    /// In order. Our own writes come back this way too.
    case records(partition: Int32, [SourceRecord])
    /// Everything that stood on the partition when it was assigned has been handed over.
    case restored(partition: Int32)
    /// Finish what is under way for them, then release: the group waits, up to a deadline.
    case revoked([Int32])
    /// They are not ours any more, and nothing may be written to them.
    case lost([Int32])
    /// The topic was deleted and made again: nothing of the partition is left. It is ours still; `restored` follows.
    case beganAnew(partition: Int32)
    /// The answer to a commit; `nil` if the broker has all of it.
    case committed(KafkaFailure?)
    /// All records of a write are on every in-sync replica.
    case written(UInt64)
    /// The records at these places of a write will never be stored, for their own fault; all others are.
    case refused(UInt64, records: [Int], KafkaFailure)
    /// Some record of a write was not stored. It may be tried again.
    case notWritten(UInt64, KafkaFailure)
}
