import KafkaModel
import NewsModel
import Synchronization

/// What was on the topics at start and is not committed yet.
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

    var isDone: Bool { remaining.withLock(\.isEmpty) }

    /// The partitions still open, for members of the group that others commit for.
    var open: [TopicPartition] { remaining.withLock { $0.keys.sorted() } }
}
