public import NewsModel

/// Records that were removed from their partition before this lane's group read them.
public struct RemovedRecords: Sendable, Hashable {
    public var partition: TopicPartition
    /// The offsets that can no longer be read.
    public var offsets: Range<Int64>

    public init(_ partition: TopicPartition, _ offsets: Range<Int64>) {
        self.partition = partition
        self.offsets = offsets
    }

    /// The upper bound of the number of records, because offsets have gaps.
    public var count: Int64 { offsets.upperBound.subtractingReportingOverflow(offsets.lowerBound).partialValue }
}

/// Offsets that reading has skipped in one partition. Transactions and compaction leave such gaps too. The partition's first
/// offset shows which gaps are removed records.
struct SkippedOffsets: Sendable {
    private(set) var gaps: [Range<Int64>] = []

    /// Bounds memory on topics with many small gaps.
    static let most = 16

    /// Adds the offsets between the next expected one and the first that exists.
    mutating func add(from expected: Int64?, to offset: Int64) {
        guard let expected, expected < offset else { return }
        gaps.append(expected..<offset)
        guard gaps.count > Self.most,
            let smallest = gaps.indices.min(by: { Self.size(gaps[$0]) < Self.size(gaps[$1]) })
        else { return }
        // Removed records leave a large gap, and transactions small ones.
        gaps.remove(at: smallest)
    }

    mutating func add(within batch: [SourceRecord]) {
        guard let first = batch.first, let last = batch.last else { return }
        guard last.offset.subtractingReportingOverflow(first.offset).partialValue >= Int64(batch.count) else { return }
        var before = first.offset
        for record in batch.dropFirst() {
            if before < .max { add(from: before + 1, to: record.offset) }
            before = record.offset
        }
    }

    mutating func remove(_ checked: [Range<Int64>]) { gaps.removeAll(where: checked.contains) }

    private static func size(_ gap: Range<Int64>) -> Int64 {
        let (size, overflow) = gap.upperBound.subtractingReportingOverflow(gap.lowerBound)
        return overflow ? .max : size
    }
}

extension ConsumerState {
    /// A question about the first offset of a partition, to be answered on a thread that may block.
    public struct RemovalCheck: Sendable, Hashable {
        public var partition: TopicPartition
        public var generation: Generation
        /// The offsets that reading had skipped when the check was requested.
        let gaps: [Range<Int64>]
    }

    /// The partitions in which reading has skipped offsets, those that are still assigned first. An unanswered check is requested
    /// again.
    public func removalChecks() -> [RemovalCheck] { checksOfSlots + uncheckedGaps }

    private var checksOfSlots: [RemovalCheck] {
        slots.compactMap { slot in
            guard !slot.skipped.gaps.isEmpty, !slot.hasRestarted else { return nil }
            return RemovalCheck(partition: slot.partition, generation: generation, gaps: slot.skipped.gaps)
        }
    }

    /// Called before the partitions are released. Bounded, because partitions may be revoked again and again without an answer.
    mutating func keepUncheckedGaps() {
        uncheckedGaps = (uncheckedGaps + checksOfSlots).suffix(Self.uncheckedGapsMax)
    }

    private static let uncheckedGapsMax = 1_000

    /// Receives the first offset of a partition, read after the check was requested. Skipped offsets below it were removed before
    /// they were read. The others are ordinary gaps.
    ///
    /// - Parameter firstOffset: `nil` if the partition does not exist. A check of the present assignment then stays open.
    /// - Returns: the removed records, one element for each gap; empty if the partition was recreated meanwhile.
    public mutating func checked(_ check: RemovalCheck, firstOffset: Int64?) -> [RemovedRecords] {
        var open: [Range<Int64>] = []
        if let index = slot(check.partition, check.generation), !slots[index].hasRestarted {
            guard firstOffset != nil else { return [] }
            open = slots[index].skipped.gaps.filter(check.gaps.contains)
            slots[index].skipped.remove(open)
        } else if let index = uncheckedGaps.firstIndex(where: {
            $0.partition == check.partition && $0.generation == check.generation
        }) {
            open = uncheckedGaps.remove(at: index).gaps
        }
        return open.compactMap { gap in
            guard let firstOffset, gap.lowerBound < firstOffset else { return nil }
            return RemovedRecords(check.partition, gap.lowerBound..<min(gap.upperBound, firstOffset))
        }
    }
}
