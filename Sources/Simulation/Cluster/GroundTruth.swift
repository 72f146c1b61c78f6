import KafkaModel
import NewsModel
import PublishEngine

/// The facts of a life, beyond the knowledge of any process in it: the cluster writes them down, the checkers read them.
final class GroundTruth {
    let scenario: Scenario
    var now = Scenario.start
    let platforms: Int
    /// The life's news, and what came back from the held topic.
    private(set) var news: [NewsItem]
    var ownerships: [Ownership] = []
    var attempts: [Attempt] = []
    /// By delivery: the numbers of its attempts.
    var attemptsOf: [[Int]]
    /// By delivery: its results, in the order they were stored.
    var resultsOf: [[StoredResult]]
    /// By delivery: whether the broker refused its result or dead letter at first, so that others were stored before it.
    var wasRefused: [Bool]
    /// By delivery: whether its dead letter stands.
    var hasDeadLetter: [Bool]
    /// By item: the ownerships under which it was handed to an engine.
    var takenBy: [[Int]]
    /// By item: where it stands, or stood, once published.
    var places: [Place?]
    /// By serial: the item.
    private var items: [Int: Int]

    // What stands on the broker.
    var sources: [TopicPartition: SourceLog] = [:]
    /// Earlier incarnations of partitions of deleted topics.
    var incarnations: [TopicPartition: Int] = [:]
    var ledger: [Int32: ResultsLog] = [:]
    /// Partitions by topic; a topic that does not exist is absent.
    var counts: [String: Int] {
        didSet { noteCounts() }
    }
    /// All the partition numbers that each topic has had.
    private(set) var formerCounts: [String: Set<Int>] = [:]
    var control = ControlLog()
    /// By partition.
    var held: [Int32: HeldLog] = [:]
    /// How often the held topic was deleted.
    var heldIncarnation = 0
    /// By serial: how often the news came back from the held topic.
    var returns: [Int: Int] = [:]
    /// By lane: what its group committed.
    var committed: [[TopicPartition: Commit]]

    init(scenario: Scenario) {
        self.scenario = scenario
        platforms = scenario.setting.engine.platforms.count
        news = scenario.news
        let deliveries = news.count * platforms
        attemptsOf = Array(repeating: [], count: deliveries)
        resultsOf = Array(repeating: [], count: deliveries)
        wasRefused = Array(repeating: false, count: deliveries)
        hasDeadLetter = Array(repeating: false, count: deliveries)
        takenBy = Array(repeating: [], count: news.count)
        places = Array(repeating: nil, count: news.count)
        items = Dictionary(
            news.enumerated().map { ($0.element.serial, $0.offset) }, uniquingKeysWith: { first, _ in first })
        counts = scenario.setting.partitions
        committed = Array(repeating: [:], count: scenario.setting.lanes.count)
        noteCounts()
        for lane in scenario.setting.lanes {
            for topic in lane.topics {
                for partition in 0..<Int32(scenario.setting.partitions[topic] ?? 0) {
                    sources[TopicPartition(topic: topic, partition: partition)] = SourceLog(startedAt: Scenario.start)
                }
            }
        }
    }

    private func noteCounts() {
        for (topic, count) in counts where count > 0 { formerCounts[topic, default: []].insert(count) }
    }

    /// A record's place on the broker.
    struct Place {
        var partition: TopicPartition
        var offset: Int64
        var publishedAt: Instant
        /// It went with its topic, or was cut off.
        var isGone = false
        /// Why no process can know that it has no result.
        var hiding: Hiding?
        var isHidden: Bool { hiding != nil }

        enum Hiding {
            /// It came to stand below an offset that had been committed for other records.
            case skipped
            /// It came to stand in the place of the same record.
            case twin
        }
    }

    struct Commit {
        var offset: Int64
        var at: Instant
        /// By which its owner recognizes the incarnation.
        var note: String?
    }

    struct StoredResult {
        var ownership: Int?
        var outcome: Outcome
        var partition: Int32
        var offset: Int64
    }

    /// Another record of a life under way; its item.
    func add(_ item: NewsItem) -> Int {
        news.append(item)
        attemptsOf += Array(repeating: [], count: platforms)
        resultsOf += Array(repeating: [], count: platforms)
        wasRefused += Array(repeating: false, count: platforms)
        hasDeadLetter += Array(repeating: false, count: platforms)
        takenBy.append([])
        places.append(nil)
        items[item.serial] = news.count - 1
        return news.count - 1
    }

    // MARK: Deliveries

    func delivery(item: Int, platform: Int) -> Int { item * platforms + platform }
    func item(serial: Int) -> Int? { items[serial] }
    /// Stays the same when other news is left out.
    func drawKey(of delivery: Int) -> Int { news(of: delivery).serial * platforms + delivery % platforms }
    func item(of delivery: Int) -> Int { delivery / platforms }
    func platform(of delivery: Int) -> Platform { scenario.setting.engine.platforms[delivery % platforms] }
    func news(of delivery: Int) -> NewsItem { news[item(of: delivery)] }
    func partition(of delivery: Int) -> TopicPartition? { places[item(of: delivery)]?.partition }

    /// The deliveries a record must come to.
    func deliveries(of item: Int) -> [Int] {
        if let platform = news[item].platform,
            let index = scenario.setting.engine.platforms.firstIndex(of: platform)
        {
            return [delivery(item: item, platform: index)]
        }
        return (0..<platforms).map { delivery(item: item, platform: $0) }
    }

    /// The record must come to its results.
    func isDue(_ item: Int) -> Bool {
        guard let place = places[item] else { return true }
        switch place.hiding {
        case .twin: return false
        // Whoever reads it after all finishes it.
        case .skipped: return takenBy[item].contains { ownerships[$0].end == nil }
        case nil: break
        }
        if Int(place.partition.partition) >= counts[scenario.setting.results] ?? 0 { return false }
        guard place.isGone else { return true }
        // An engine that has read it finishes it, unless it ends or gives the partition up first.
        return takenBy[item].contains { number in
            switch ownerships[number].end {
            case nil, .rewound: true
            default: false
            }
        }
    }

    func isSettled(_ item: Int) -> Bool { deliveries(of: item).allSatisfy { !resultsOf[$0].isEmpty } }

    /// For sentences.
    func name(_ delivery: Int) -> String {
        let news = news(of: delivery)
        let place = places[item(of: delivery)].map { "\($0.partition)/\($0.offset)" } ?? "\(news.topic)/?"
        return "~\(news.serial)~ \(place)/\(platform(of: delivery).rawValue) (\(news.eventID))"
    }
}

/// One request on the wire.
struct Attempt {
    var delivery: Int
    var ownership: Int
    var sentAt: Instant
    /// The hub accepted it, whatever it answered.
    var isAccepted = false
    var reply: Reply?
    var repliedAt: Instant?
    /// A fault that concerns everyone struck it.
    var metHalt = false

    /// The request really left: one that was certainly never written is not an attempt.
    var hasLeft: Bool { if case .notSent? = reply { false } else { true } }

    /// By its answer, it may have been accepted.
    var isUnanswered: Bool {
        guard let reply else { return false }
        if case .unknown = Judge.verdict(on: reply) { return true }
        return false
    }
}
