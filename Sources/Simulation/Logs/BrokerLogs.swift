import KafkaModel
import NewsModel

/// A partition of a source topic on the broker.
struct SourceLog {
    /// Number of times that the topic was created.
    var incarnation = 0
    /// Time at which the partition was created or truncated last.
    var startedAt: Instant
    /// Time from which readers find its leader.
    var servedFrom = Instant.distantPast
    /// Time of its first truncation.
    var firstCut: Instant?
    /// Items in ascending order of offsets.
    var items: [(offset: Int64, item: Int)] = []
    /// The first offset that retention has kept.
    var start: Int64 = 0
    var end: Int64 = 0

    init(incarnation: Int = 0, startedAt: Instant) {
        self.incarnation = incarnation
        self.startedAt = startedAt
    }

    /// Returns the index of the first record at or after `offset`.
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
        /// Time of writing, by the writer's clock.
        var timestamp: Instant
    }

    /// Returns the first offset at or after a time; `nil` if there is no such offset.
    func offset(since time: Instant) -> Int64? {
        (start..<end).first { rows[Int($0)].timestamp >= time }
    }
}

extension TopicPartition {
    /// Returns the partition with the same number in another topic.
    func with(topic: String) -> TopicPartition { TopicPartition(topic: topic, partition: partition) }
}

extension Instant {
    /// The timestamp of a record that is written at this time. Kafka's timestamps have whole milliseconds.
    var asTimestamp: Instant { Instant(milliseconds: milliseconds) }
}
