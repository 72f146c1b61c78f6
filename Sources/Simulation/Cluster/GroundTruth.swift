import NewsModel
import NotificationHub
import PublishEngine

/// The facts of a life, beyond the knowledge of any process. The cluster records them and the checkers read them.
final class GroundTruth {
    let scenario: Scenario
    var now = Scenario.start
    let platforms: Int
    /// The life's news, including the copies that returned from the held topic.
    private(set) var news: [NewsItem]
    var ownerships: [Ownership] = []
    var attempts: [Attempt] = []
    /// The numbers of the attempts, by delivery.
    var attemptsOf: [[Int]]
    /// The results in the order in which they were stored, by delivery.
    var resultsOf: [[StoredResult]]
    /// True if the broker first refused the result or dead letter, so that others were stored before it. By delivery.
    var wasRefused: [Bool]
    /// True if the dead letter is stored, by delivery.
    var hasDeadLetter: [Bool]
    /// The ownerships under which an item was handed to an engine, by item.
    var takenBy: [[Int]]
    /// The last place of a published item, by item.
    var places: [Place?]
    /// The item, by serial.
    private var items: [Int: Int]

    // The state of the broker.
    var sources: [TopicPartition: SourceLog] = [:]
    /// Number of earlier incarnations of deleted topics' partitions.
    var incarnations: [TopicPartition: Int] = [:]
    var ledger: [Int32: ResultsLog] = [:]
    /// Number of partitions, by topic. A topic that does not exist is absent.
    var counts: [String: Int] { didSet { noteCounts() } }
    /// All the partition counts that each topic has had.
    private(set) var formerCounts: [String: Set<Int>] = [:]
    var control = ControlLog()
    /// The held topic, by partition.
    var held: [Int32: HeldLog] = [:]
    /// Number of deletions of the held topic.
    var heldIncarnation = 0
    /// True if records of the held topic were removed.
    var isHeldTruncated = false
    /// Number of returns from the held topic, by the serial of the news.
    var returns: [Int: Int] = [:]
    /// The offsets committed by each lane's group.
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

    /// The place of a record on the broker.
    struct Place {
        var partition: TopicPartition
        var offset: Int64
        var publishedAt: Instant
        /// True if it was deleted with its topic or by a truncation.
        var isGone = false
        /// The reason why no process can know that it has no result.
        var hiding: Hiding?
        var isHidden: Bool { hiding != nil }

        enum Hiding {
            /// It was written below an offset that had been committed for other records.
            case skipped
            /// It was written at the place of the same record.
            case twin
        }
    }

    struct Commit {
        var offset: Int64
        var at: Instant
        /// The note from which an owner recognizes the incarnation.
        var note: String?
    }

    struct StoredResult {
        var ownership: Int?
        var outcome: Outcome
        /// The sends that the hub accepted, of a delivery that needs several.
        var sends: Int
        var partition: Int32
        var offset: Int64
    }

    /// Adds a record to a running life; returns its item.
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
    /// Returns a key that does not change if other news is left out.
    func drawKey(of delivery: Int) -> Int { news(of: delivery).serial * platforms + delivery % platforms }
    func item(of delivery: Int) -> Int { delivery / platforms }
    func platform(of delivery: Int) -> Platform { scenario.setting.engine.platforms[delivery % platforms] }
    func news(of delivery: Int) -> NewsItem { news[item(of: delivery)] }
    func partition(of delivery: Int) -> TopicPartition? { places[item(of: delivery)]?.partition }

    /// The queue in which an engine keeps deliveries in order.
    struct Story: Hashable {
        var partition: TopicPartition?
        var name: String
        var platform: Platform
    }

    func story(of delivery: Int) -> Story {
        Story(partition: partition(of: delivery), name: news(of: delivery).story, platform: platform(of: delivery))
    }

    /// Returns the deliveries that a record must have.
    func deliveries(of item: Int) -> [Int] {
        if let named = news[item].replacement?.platforms ?? news[item].platforms {
            return (0..<platforms).filter { named.contains(scenario.setting.engine.platforms[$0]) }
                .map { delivery(item: item, platform: $0) }
        }
        return (0..<platforms).map { delivery(item: item, platform: $0) }
    }

    /// Returns true if the record must get its results.
    func isDue(_ item: Int) -> Bool {
        guard let place = places[item] else { return true }
        switch place.hiding {
        case .twin: return false
        // A process that reads it after all finishes it.
        case .skipped: return takenBy[item].contains { ownerships[$0].end == nil }
        case nil: break
        }
        if Int(place.partition.partition) >= counts[scenario.setting.results] ?? 0 { return false }
        guard place.isGone else { return true }
        // An engine that has read it finishes it, unless it ends or releases the partition first.
        return takenBy[item].contains { number in
            switch ownerships[number].end {
            case nil, .rewound: true
            default: false
            }
        }
    }

    func isSettled(_ item: Int) -> Bool { deliveries(of: item).allSatisfy { !resultsOf[$0].isEmpty } }

    /// Returns a name for sentences.
    func name(_ delivery: Int) -> String {
        let news = news(of: delivery)
        let place = places[item(of: delivery)].map { "\($0.partition)/\($0.offset)" } ?? "\(news.topic)/?"
        return "~\(news.serial)~ \(place)/\(platform(of: delivery).rawValue) (\(news.eventID))"
    }
}

/// One request to the hub.
struct Attempt {
    var delivery: Int
    var ownership: Int
    /// The tag expression, by which the sends of one delivery differ.
    var tags: String
    var sentAt: Instant
    /// True if the hub accepted it, whatever its answer was.
    var isAccepted = false
    var reply: SendResult?
    var repliedAt: Instant?
    /// True if a fault that affects all requests occurred.
    var metHalt = false

    mutating func end(with result: SendResult, at now: Instant) {
        reply = result
        repliedAt = now
        switch result.meaning {
        case .unreachable, .certificate: metHalt = true
        case .unknownAcceptance: metHalt = false
        default: break
        }
    }

    /// True if the request left. A request that was certainly never written does not count as an attempt.
    var hasLeft: Bool { if case .notSent? = reply { false } else { true } }

    var isRefused: Bool { if case .refusedEvent? = reply?.meaning { true } else { false } }

    /// True if its answer leaves open whether it was accepted.
    var isUnanswered: Bool {
        guard let reply else { return false }
        if case .unknownAcceptance = reply.meaning { return true }
        return false
    }
}
