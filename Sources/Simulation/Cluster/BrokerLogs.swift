import KafkaModel
import NewsModel

/// A partition of a source topic as it stands on the broker.
struct SourceLog {
    /// Counts how often the topic was made.
    var incarnation = 0
    /// Since when these are its records: it was made, or cut back.
    var startedAt: Instant
    /// From when on readers find its leader.
    var servedFrom = Instant.distantPast
    /// When it was cut back first.
    var firstCut: Instant?
    /// In ascending order of offsets.
    var items: [(offset: Int64, item: Int)] = []
    var end: Int64 = 0

    init(incarnation: Int = 0, startedAt: Instant) {
        self.incarnation = incarnation
        self.startedAt = startedAt
    }

    /// The position of the first record at or behind `offset`.
    func index(from offset: Int64) -> Int {
        var (low, high) = (0, items.count)
        while low < high {
            let middle = (low + high) / 2
            if items[middle].offset < offset { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

/// A partition of the results topic. Offsets have no gaps.
struct ResultsLog {
    var rows: [Row] = []
    /// The first offset that is kept.
    var start: Int64 = 0

    var end: Int64 { Int64(rows.count) }

    struct Row {
        var delivery: Int
        var entry: LedgerEntry
        /// When it was written, by the clock of who wrote it.
        var timestamp: Instant
    }

    /// The first offset at or after a time; `nil` when nothing is as late.
    func offset(since time: Instant) -> Int64? {
        (start..<end).first { rows[Int($0)].timestamp >= time }
    }
}

extension TopicPartition {
    /// The partition of the same number in another topic.
    func with(topic: String) -> TopicPartition { TopicPartition(topic: topic, partition: partition) }
}
