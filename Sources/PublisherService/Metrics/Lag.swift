import NewsModel

/// The distance of a lane behind its topics, measured every few seconds.
struct Lag: Sendable {
    /// Uncommitted records of this process's partitions at the last measurement.
    var records: Int64 { marks.values.reduce(0) { $0 + $1.records } }
    /// The ends of partitions at earlier measurements, for partitions that are not committed up to them.
    private var marks: [TopicPartition: Mark] = [:]

    /// The partitions that the brokers said nothing about at the last measurement.
    private var unmeasured: Set<TopicPartition> = []

    /// Partitions with records behind an open transaction, which hides them from the lane.
    private(set) var hidden: [TopicPartition: Hidden] = [:]

    private struct Mark {
        var end: Int64
        var at: Instant
        var records: Int64 = 0
        /// True if everything that the lane can read is committed.
        var isHidden: Bool
    }

    /// Records that a lane cannot read because a transaction before them is open.
    struct Hidden: Sendable, Hashable {
        /// The last stable offset, at which the open transaction begins.
        var from: Int64
        var records: Int64
        /// The monotonic time of the first measurement that found the open transaction.
        var since: Instant
    }

    struct Measurement {
        var partition: TopicPartition
        /// The offset of the first uncommitted record.
        var committed: Int64
        /// The last stable offset, up to which a lane can read; `nil` if it was not queried.
        var stable: Int64?
        /// The high watermark: the offset of the next record.
        var end: Int64
    }

    /// The time since which a record has waited for its outcome at least; `nil` without such a record. Records with an outcome wait
    /// only for the next commit, which says nothing about the age of news.
    ///
    /// - Parameter settled: the offset of each partition's first record without a stored result, as far as it is known.
    func since(settled: [TopicPartition: Int64] = [:]) -> Instant? {
        marks.filter { settled[$0.key] ?? 0 < $0.value.end }.values.map(\.at).min()
    }

    /// The age of the oldest record without an outcome, at least; `nil` if none is known and a partition could not be measured.
    func age(settled: [TopicPartition: Int64], at now: Instant) -> Duration? {
        since(settled: settled).map { now - $0 } ?? (unmeasured.isEmpty ? .zero : nil)
    }

    /// The time since which an uncommitted record that no open transaction hides has waited at least.
    ///
    /// - Parameter refused: the partitions that the brokers do not let the lane read. They do not count.
    func readableSince(without refused: Set<TopicPartition> = []) -> Instant? {
        marks.filter { !$0.value.isHidden && !refused.contains($0.key) }.values.map(\.at).min()
    }

    /// The partitions that the same transaction has blocked for at least `patience`, in order.
    func hidden(for patience: Duration, at now: Instant) -> [(partition: TopicPartition, Hidden)] {
        hidden.filter { now - $0.value.since >= patience }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// - Parameter unmeasured: the partitions that the brokers said nothing about. They stay as they were.
    mutating func measure(
        _ measurements: [Measurement], unmeasured: Set<TopicPartition> = [], at now: Instant
    ) {
        self.unmeasured = unmeasured
        let (known, knownHidden) = (marks, hidden)
        marks = known.filter { unmeasured.contains($0.key) }
        hidden = knownHidden.filter { unmeasured.contains($0.key) }
        for measured in measurements where measured.committed < measured.end {
            let stable = measured.stable ?? measured.end
            var mark = known[measured.partition].flatMap { measured.committed < $0.end ? $0 : nil }
            mark = mark ?? Mark(end: measured.end, at: now, isHidden: false)
            mark?.records = measured.end - measured.committed
            mark?.isHidden = stable < measured.end && measured.committed >= stable
            marks[measured.partition] = mark
            guard stable < measured.end else { continue }
            // The last stable offset advances while transactions end and others begin.
            let before = knownHidden[measured.partition].flatMap { $0.from == stable ? $0.since : nil }
            hidden[measured.partition] = Hidden(
                from: stable, records: measured.end - stable, since: before ?? now)
        }
    }
}
