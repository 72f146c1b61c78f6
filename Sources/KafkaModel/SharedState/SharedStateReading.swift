import NewsModel

/// Decides when a partition of a shared topic has been read: once all records before its end at the assignment were
/// handed over.
///
/// The broker is asked for the end. The first "end of partition" of a fetch is not sufficient, because a newly elected leader
/// may not show all acknowledged records yet. Such a leader does not answer the question before it shows them.
public struct SharedStateReading: Sendable {
    /// The number of the present question about offset ranges. An assignment or a recreation of the topic changes it, because
    /// earlier answers may be about other partitions.
    public private(set) var question = 0
    private var generation = Generation.none
    private var partitions: [Int32: Progress] = [:]

    private struct Progress: Sendable {
        /// The end; `nil` while it is requested.
        var end: Int64?
        /// All records before it were handed over; `nil` before the first record or end.
        var next: Int64?
        /// The partition's first offset, as far as is known.
        var start: Int64 = 0
        var isRestored = false

        /// True once, when all records were read.
        mutating func becomesRestored() -> Bool {
            guard !isRestored, let end, let next, next >= end else { return false }
            isRestored = true
            return true
        }
    }

    public init() {}

    /// The partitions whose end is not known, in ascending order.
    public var unknownEnds: [Int32] { partitions.filter { $0.value.end == nil }.keys.sorted() }
    /// All assigned partitions, in ascending order.
    public var assigned: [Int32] { partitions.keys.sorted() }
    /// The partitions that are not read to their end, in ascending order.
    public var unrestored: [Int32] { partitions.filter { !$0.value.isRestored }.keys.sorted() }

    /// Translates an event of the consumer for the owner of the state.
    public mutating func translate(_ event: KafkaEvent) -> [SharedStateEvent] {
        switch event {
        case .assigned(_, let generation, let list):
            self.generation = generation
            question += 1
            partitions = Dictionary(list.map { ($0.partition, Progress()) }) { first, _ in first }
            return [.assigned(list.map(\.partition), generation)]
        case .revoked(_, _, let list, let isLost):
            partitions = [:]
            let numbers = list.map(\.partition)
            return [isLost ? .lost(numbers) : .revoked(numbers)]
        case .records(_, let generation, let partition, let records):
            guard generation == self.generation, let last = records.last else { return [] }
            return [.records(partition: partition.partition, records)]
                + advance(partition.partition, to: last.offset.saturating(adding: 1))
        case .endReached(_, let generation, let partition, let offset):
            return generation == self.generation ? advance(partition.partition, to: offset) : []
        case .restarted(_, let generation, let partition, _):
            guard generation == self.generation, partitions[partition.partition] != nil else { return [] }
            partitions[partition.partition] = Progress()
            question += 1
            return [.restarted(partition: partition.partition)]
        case .committed(_, let generation, _, let failure):
            return generation == self.generation ? [.committed(failure)] : []
        case .restored, .restoreFailed, .stored, .tooLargeToHold, .partitionCounts: return []
        }
    }

    /// Receives offset ranges of assigned partitions. The first range of a partition has the end that it is read to.
    ///
    /// - Parameter question: the value of `question` when the ranges were requested.
    public mutating func found(_ ranges: [Int32: Range<Int64>], to question: Int) -> [SharedStateEvent] {
        guard question == self.question else { return [] }
        return ranges.sorted { $0.key < $1.key }.flatMap { partition, range -> [SharedStateEvent] in
            guard let progress = partitions[partition] else { return [] }
            partitions[partition]?.start = max(progress.start, range.lowerBound)
            // Compaction does not change a partition's first offset, so a later one means that records were removed.
            let removed: [SharedStateEvent] =
                range.lowerBound > progress.start ? [.removed(partition: partition, below: range.lowerBound)] : []
            guard progress.end == nil else { return removed }
            partitions[partition]?.end = range.upperBound
            // An empty partition delivers no records.
            return removed + advance(partition, to: range.isEmpty ? range.upperBound : .min)
        }
    }

    private mutating func advance(_ partition: Int32, to next: Int64) -> [SharedStateEvent] {
        guard var progress = partitions[partition] else { return [] }
        if next > progress.next ?? .min { progress.next = next }
        let isRestored = progress.becomesRestored()
        partitions[partition] = progress
        return isRestored ? [.restored(partition: partition)] : []
    }
}
