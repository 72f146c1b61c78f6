import KafkaModel
import NewsModel
import Synchronization

/// The records that were on the topics at start and are not committed yet.
final class CatchUp: Sendable {
    private let remaining: Mutex<[TopicPartition: Int64]>

    /// - Parameter ends: the end of each partition that had something to read.
    init(ends: [TopicPartition: Int64]) {
        remaining = Mutex(ends)
    }

    /// `true` once everything is committed.
    func committed(_ offsets: [PartitionOffset]) -> Bool {
        remaining.withLock { remaining in
            for offset in offsets {
                if let end = remaining[offset.partition], offset.offset >= end { remaining[offset.partition] = nil }
            }
            return remaining.isEmpty
        }
    }

    /// Drops a partition whose records of the start are gone, as its topic was created again or cut back.
    ///
    /// - Parameter kept: the partition's present offsets; `nil` when it is gone.
    /// - Returns: `true` once nothing is left to be committed.
    func found(_ partition: TopicPartition, kept: Range<Int64>?) -> Bool {
        remaining.withLock { remaining in
            if let end = remaining[partition], kept.map({ $0.upperBound < end }) ?? true { remaining[partition] = nil }
            return remaining.isEmpty
        }
    }

    var isDone: Bool { remaining.withLock(\.isEmpty) }

    /// The partitions still open, for members of the group that others commit for.
    var open: [TopicPartition] { remaining.withLock { $0.keys.sorted() } }
}
