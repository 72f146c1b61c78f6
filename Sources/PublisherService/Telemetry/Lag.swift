import KafkaModel
import NewsModel

/// The distance of a lane behind its topics, measured every few seconds.
struct Lag: Sendable {
    /// Records of our partitions that were not committed at the last measurement.
    private(set) var records: Int64 = 0
    /// Where a partition ended when it was measured at this time, for partitions that have not been committed up to there.
    private var marks: [TopicPartition: Mark] = [:]

    /// Partitions with records behind an open transaction, which hides them from the lane.
    private(set) var hidden: [TopicPartition: Hidden] = [:]

    private struct Mark {
        var end: Int64
        var at: Instant
        /// Everything that the lane can read is committed.
        var isHidden: Bool
    }

    /// Records that a lane cannot read because a transaction before them is open.
    struct Hidden: Sendable, Hashable {
        /// The last stable offset, at which the open transaction begins.
        var from: Int64
        var records: Int64
        /// The first measurement that found it, by the monotonic clock.
        var since: Instant
    }

    struct Measurement {
        var partition: TopicPartition
        /// The offset of the first record without a commit.
        var committed: Int64
        /// The last stable offset, up to which a lane can read; `nil` if it was not asked for.
        var stable: Int64?
        /// The high watermark: the offset of the next record to be written.
        var end: Int64
    }

    /// A record that has waited at least since then is still not committed; `nil` when there is none. In a steady stream
    /// there is always some record that is not committed yet, but never one from before the last measurement.
    var since: Instant? { marks.values.map(\.at).min() }

    /// The same without records that an open transaction hides.
    var readableSince: Instant? { marks.values.filter { !$0.isHidden }.map(\.at).min() }

    /// The partitions that the same transaction has held up for a time, in their order.
    func hidden(for patience: Duration, at now: Instant) -> [(partition: TopicPartition, Hidden)] {
        hidden.filter { now - $0.value.since >= patience }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    mutating func measure(_ measurements: [Measurement], at now: Instant) {
        records = 0
        let (known, knownHidden) = (marks, hidden)
        (marks, hidden) = ([:], [:])
        for measured in measurements where measured.committed < measured.end {
            records += measured.end - measured.committed
            let stable = measured.stable ?? measured.end
            var mark = known[measured.partition].flatMap { measured.committed < $0.end ? $0 : nil }
            mark = mark ?? Mark(end: measured.end, at: now, isHidden: false)
            mark?.isHidden = stable < measured.end && measured.committed >= stable
            marks[measured.partition] = mark
            guard stable < measured.end else { continue }
            // While transactions end and others begin, the last stable offset moves on.
            let before = knownHidden[measured.partition].flatMap { $0.from == stable ? $0.since : nil }
            hidden[measured.partition] = Hidden(
                from: stable, records: measured.end - stable, since: before ?? now)
        }
    }
}
