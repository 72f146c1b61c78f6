import NewsModel

/// Decides when a partition of a shared topic has been read: once everything before the end that it had at its assignment was
/// handed over.
///
/// The end is asked for. The first "end of partition" of a fetch is not enough: a leader that was just elected may not show yet
/// what its predecessor has acknowledged, but it does not tell an end before it does.
public struct SharedStateReading: Sendable {
    public private(set) var generation = Generation.none
    private var partitions: [Int32: Progress] = [:]

    private struct Progress: Sendable {
        /// `nil` while it is asked for.
        var end: Int64?
        /// Everything before it was handed over; `nil` before the first record or end.
        var next: Int64?
        var isRestored = false

        /// True once, when everything was read.
        mutating func becomesRestored() -> Bool {
            guard !isRestored, let end, let next, next >= end else { return false }
            isRestored = true
            return true
        }
    }

    public init() {}

    /// The partitions whose end is not known, in ascending order.
    public var unknownEnds: [Int32] { partitions.filter { $0.value.end == nil }.keys.sorted() }
    /// The partitions that are not read to their end, in ascending order.
    public var unrestored: [Int32] { partitions.filter { !$0.value.isRestored }.keys.sorted() }

    /// What one event of the consumer means for the owner of the state.
    public mutating func take(_ event: KafkaEvent) -> [SharedStateEvent] {
        switch event {
        case .assigned(_, let generation, let list):
            self.generation = generation
            partitions = Dictionary(list.map { ($0.partition, Progress()) }) { first, _ in first }
            return [.assigned(list.map(\.partition))]
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
        case .beganAnew(_, let generation, let partition):
            guard generation == self.generation, partitions[partition.partition] != nil else { return [] }
            partitions[partition.partition] = Progress()
            return [.beganAnew(partition: partition.partition)]
        case .committed(_, let generation, _, let failure):
            return generation == self.generation ? [.committed(failure)] : []
        case .restored, .restoreFailed, .stored, .tooLargeToHold, .partitionCounts: return []
        }
    }

    /// The offsets that the partitions had when they were asked for, in answer to `unknownEnds` of this generation.
    public mutating func found(_ ranges: [Int32: Range<Int64>], _ generation: Generation) -> [SharedStateEvent] {
        guard generation == self.generation else { return [] }
        return ranges.sorted { $0.key < $1.key }.flatMap { partition, range -> [SharedStateEvent] in
            guard partitions[partition]?.end == nil else { return [] }
            partitions[partition]?.end = range.upperBound
            // Of an empty partition nothing comes.
            return advance(partition, to: range.isEmpty ? range.upperBound : .min)
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
