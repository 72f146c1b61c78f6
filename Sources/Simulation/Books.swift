import NewsModel
import PublishEngine

/// What really happened in a life, as nobody inside it knows it: the world writes it down, the checkers read it.
final class Books {
    let life: Life
    var now = Life.start
    let platforms: Int
    var tenures: [Tenure] = []
    var attempts: [Attempt] = []
    /// By delivery: the numbers of its attempts.
    var attemptsOf: [[Int]]
    /// By delivery: its results, in the order they were stored.
    var resultsOf: [[StoredResult]]
    /// By delivery: what is on the results topic, by partition.
    var ledger: [Int32: [LedgerRow]] = [:]
    /// By serial: the item.
    private let items: [Int: Int]
    /// By item: where it stands, once published.
    var offsetOf: [Int64?]
    private(set) var sources: [TopicPartition: SourceLog] = [:]
    /// By lane: what its group committed.
    var committed: [[TopicPartition: Int64]]

    init(life: Life) {
        self.life = life
        platforms = life.setting.engine.platforms.count
        attemptsOf = Array(repeating: [], count: life.news.count * platforms)
        resultsOf = Array(repeating: [], count: life.news.count * platforms)
        items = Dictionary(
            life.news.enumerated().map { ($0.element.serial, $0.offset) }, uniquingKeysWith: { first, _ in first })
        offsetOf = Array(repeating: nil, count: life.news.count)
        committed = Array(repeating: [:], count: life.setting.lanes.count)
        for lane in life.setting.lanes {
            for topic in lane.topics {
                for partition in 0..<Int32(life.setting.partitions) {
                    sources[TopicPartition(topic: topic, partition: partition)] = SourceLog()
                }
            }
        }
    }

    struct SourceLog {
        /// In ascending order of offsets.
        var items: [(offset: Int64, item: Int)] = []
        var end: Int64 = 0

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

    struct StoredResult {
        var tenure: Int?
        var outcome: Outcome
        var partition: Int32
        var offset: Int64
    }

    struct LedgerRow {
        var offset: Int64
        var delivery: Int
        var result: RestoredResult
        var tenure: Int?
    }

    func publish(_ item: Int) {
        let news = life.news[item]
        guard var log = sources[news.partition] else { return }
        let offset = log.end + news.gapBefore
        log.items.append((offset, item))
        log.end = offset + 1 + news.gapAfter
        sources[news.partition] = log
        offsetOf[item] = offset
    }

    func item(_ source: ResultRecord.Source) -> Int? {
        guard let log = sources[source.partition] else { return nil }
        let index = log.index(from: source.offset)
        guard index < log.items.count, log.items[index].offset == source.offset else { return nil }
        return log.items[index].item
    }

    // MARK: Deliveries

    func delivery(item: Int, platform: Int) -> Int { item * platforms + platform }
    func item(serial: Int) -> Int? { items[serial] }
    /// Stays the same when other news is left out.
    func luck(of delivery: Int) -> Int { news(of: delivery).serial * platforms + delivery % platforms }
    func item(of delivery: Int) -> Int { delivery / platforms }
    func platform(of delivery: Int) -> Platform { life.setting.engine.platforms[delivery % platforms] }
    func news(of delivery: Int) -> NewsItem { life.news[item(of: delivery)] }

    /// The deliveries a record must come to.
    func deliveries(of item: Int) -> [Int] {
        if case .redriven(let platform) = life.news[item].kind,
            let index = life.setting.engine.platforms.firstIndex(of: platform)
        {
            return [delivery(item: item, platform: index)]
        }
        return (0..<platforms).map { delivery(item: item, platform: $0) }
    }

    /// For sentences.
    func name(_ delivery: Int) -> String {
        let news = news(of: delivery)
        let offset = offsetOf[item(of: delivery)].map(String.init) ?? "?"
        return "\(news.partition)/\(offset)/\(platform(of: delivery).rawValue) (\(news.eventID))"
    }
}

extension Tenure {
    /// Whether its engine knows of a result: its own, or one it read back.
    func knows(_ result: Books.StoredResult, as number: Int) -> Bool {
        result.tenure == number || restored?.contains(result.offset) == true
    }
}

/// One partition in the hands of one engine, from the assignment it heard of to the moment it gave it up.
struct Tenure {
    var address: Address
    var lane: Int
    var generation: Int
    var partition: TopicPartition
    /// Where the reading of the ledger began.
    var ledgerStart: Int64 = 0
    /// What was read of the ledger before the first send.
    var restored: Range<Int64>?
    /// By the process's own clock.
    var revokedAt: Instant?
    var end: End?

    enum End {
        /// Given up after everything under way was finished.
        case released
        /// Given up with something still under way, because the deadline had passed.
        case overdue
        case lost
        case died
        /// The bridge had no patience left.
        case replaced
    }
}

/// One request on the wire.
struct Attempt {
    var delivery: Int
    var tenure: Int
    var sentAt: Instant
    /// Whether the hub took it, told or not.
    var isAccepted = false
    var reply: Reply?
    /// A fault that concerns everyone struck it.
    var metHalt = false
}
