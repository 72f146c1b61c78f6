import KafkaModel
import NewsModel

/// How far a lane is behind its topics, measured every few seconds.
struct Lag: Sendable {
    /// Records of our partitions that were not committed at the last measurement.
    private(set) var records: Int64 = 0
    /// Where a partition ended when it was measured at this time, for partitions that have not been committed up to there.
    private var marks: [TopicPartition: Mark] = [:]

    private struct Mark {
        var end: Int64
        var at: Instant
    }

    struct Measurement {
        var partition: TopicPartition
        /// The offset of the first record without a commit.
        var committed: Int64
        /// The offset of the next record to be written.
        var end: Int64
    }

    /// A record that has waited at least since then is still not committed; `nil` when there is none. In a steady stream
    /// there is always some record that is not committed yet, but never one from before the last measurement.
    var since: Instant? { marks.values.map(\.at).min() }

    mutating func measure(_ measurements: [Measurement], at now: Instant) {
        records = 0
        let known = marks
        marks = [:]
        for measured in measurements where measured.committed < measured.end {
            records += measured.end - measured.committed
            let mark = known[measured.partition].flatMap { measured.committed < $0.end ? $0 : nil }
            marks[measured.partition] = mark ?? Mark(end: measured.end, at: now)
        }
    }
}
