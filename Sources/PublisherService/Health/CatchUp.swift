import KafkaModel
import NewsModel
import Synchronization

/// The records that were on the topics at start and are not committed.
final class CatchUp: Sendable {
    private let remaining: Mutex<[TopicPartition: Int64]>

    /// - Parameter ends: the end offset of each partition that has uncommitted records.
    init(ends: [TopicPartition: Int64]) { remaining = Mutex(ends) }

    /// Applies commits. Returns `true` once everything is committed.
    func committed(_ offsets: [PartitionOffset]) -> Bool {
        remaining.withLock { remaining in
            for offset in offsets {
                if let end = remaining[offset.partition], offset.offset >= end { remaining[offset.partition] = nil }
            }
            return remaining.isEmpty
        }
    }

    /// Drops a partition that no longer has its records of the start, because its topic was recreated or truncated.
    ///
    /// - Parameter kept: the partition's current offsets; `nil` if the partition does not exist.
    /// - Returns: `true` once all partitions are committed or dropped.
    func found(_ partition: TopicPartition, kept: Range<Int64>?) -> Bool {
        remaining.withLock { remaining in
            if let end = remaining[partition], kept.map({ $0.upperBound < end }) ?? true { remaining[partition] = nil }
            return remaining.isEmpty
        }
    }

    /// The failure of a run that has ended; `nil` if everything was read and is committed.
    ///
    /// - Parameter removed: the upper bound of the records that were removed before the run could read them.
    func failure(removed: UInt64) -> PublisherFailure? {
        if !isDone { return .notCaughtUp }
        return removed > 0 ? .removedUnread(removed) : nil
    }

    var isDone: Bool { remaining.withLock(\.isEmpty) }

    /// The partitions with pending records, including those for which other group members commit.
    var open: [TopicPartition] { remaining.withLock { $0.keys.sorted() } }
}
