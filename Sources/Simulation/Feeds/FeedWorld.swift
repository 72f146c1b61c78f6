import ByteText
import Feeds
import NewsModel

/// Processes that follow feeds, their publishers, and the topics that they write to, drawn from one seed.
public struct FeedWorld {
    let scenario: FeedScenario
    let promises: Set<FeedPromise>
    var interference: any FeedInterference
    var random: SeededRandom
    var now = FeedWorld.start
    var agenda = TimerHeap<Occurrence>()
    var publishers: [String: FeedPublisher] = [:]
    let names: [String]
    var rules: [String: FeedRules] = [:]
    var topic: StateTopic
    var lanes = LaneTopic()
    var processes: [Process] = []
    /// The process to which the group has assigned each partition.
    var owners: [Int?]
    /// The next owner of each partition after the present one has released it.
    var heirs: [Int?]
    var isCalm = false
    /// The present error of all processes' wall clocks.
    var clockAhead: Duration
    /// Feeds that are not polled for hours after too many failures.
    var leftAlone: Set<String> = []
    /// Time at which each feed's first reading was on the topic. Entries that appear later are news.
    var primedAt: [String: Instant] = [:]
    /// Time at which each item, by its link, was first in a delivered document.
    var shownAt: [String: Instant] = [:]
    /// Times of the decisions to write the first event of an item, by the bytes of the record with the intent.
    var decided: [[UInt8]: Instant] = [:]
    /// First events whose intents have reached the state topic.
    var intents: Set<[UInt8]> = []
    /// Links of the items whose alerts have reached the state topic.
    var alerted: Set<String> = []
    /// Sorted times of the decisions on these alerts, by feed.
    var alerts: [String: [Instant]] = [:]
    var report = FeedLifeReport()

    /// One process, running or not.
    struct Process {
        var ingester: Ingester
        /// Number of starts. Occurrences for an earlier run are dropped.
        var life: Int
        var isAlive: Bool
        var reading: [Int32: Reading] = [:]
        var fetching: [FetchID: Fetching] = [:]
        /// The partitions of feeds that wait for the broker's answer to a write.
        var unanswered: [WriteID: Int32] = [:]
        var hosts: [String: HostRecord] = [:]
        /// Time of the last write, so that writes stay in order.
        var lastWriteAt = Instant.distantPast
        /// End of its present standstill.
        var pausedUntil = Instant.distantPast
        var hasFinished = false

        /// Records the broker's answers.
        mutating func heard(_ input: IngestInput) {
            switch input {
            case .stored(let id), .published(let id), .writeFailed(let id, _): unanswered[id] = nil
            default: break
            }
        }
    }

    struct Reading {
        var position = 0
        /// The partition's end when it was assigned.
        var end: Int
        var isRestored = false
        /// Time at which the group revoked the partition. Nothing is read afterwards.
        var revokedAt: Instant?
    }

    struct Fetching: Hashable {
        var host: String
        var feed: String
    }

    /// The requests of one process as seen by a host.
    struct HostRecord {
        var underWay = 0
        var lastEnd = Instant.distantPast
        var awayUntil = Instant.distantPast
    }

    enum Occurrence: Hashable {
        case wake(Int, life: Int)
        case answer(Int, life: Int, FetchID, FetchRequest, isCanceled: Bool)
        case stored(Int, life: Int, WriteID, Int32, [StateRecord], fails: Bool, appearing: Int)
        case published(Int, life: Int, WriteID, lane: String, [FeedEvent], stored: Int)
        case told(Int, life: Int, IngestInput)
        case deliver(Int, life: Int, Int32)
        case newsroom(String)
        case edit(String, Int)
        case calmNews(String, Int)
        case withhold(String)
        case setFree(String, Int)
        case fault
        case correctClocks
        case start(Int)
        case sessionEnds(Int, life: Int, Int32)
        case assign(Int32)
        case deadline(Int, life: Int, Int32)
        case compact
        case calm
        case finish
        case end

        /// The process in which it happens; `nil` at brokers and publishers, which do not wait for a process that stands still.
        var process: Int? {
            switch self {
            case .wake(let number, _), .answer(let number, _, _, _, _), .told(let number, _, _),
                .deliver(let number, _, _), .sessionEnds(let number, _, _):
                number
            default: nil
            }
        }
    }

    static let start = Instant(nanoseconds: 1_790_000_000_000_000_000)

    public init(
        _ scenario: FeedScenario, promises: [FeedPromise] = FeedPromise.allCases,
        interference: any FeedInterference = NoInterference()
    ) {
        self.scenario = scenario
        self.promises = Set(promises)
        self.interference = interference
        random = SeededRandom(seed: scenario.seed, 2)
        clockAhead = scenario.clockAhead
        topic = StateTopic(partitions: scenario.partitions)
        owners = Array(repeating: nil, count: Int(scenario.partitions))
        heirs = owners
        names = (0..<scenario.feeds).map { "feed\($0)" }
        for (number, name) in names.enumerated() { makeFeed(name, number) }
    }

    var moment: Moment {
        Moment(steady: Instant(nanoseconds: now.nanoseconds - Self.start.nanoseconds), wall: now + clockAhead)
    }

    private mutating func makeFeed(_ name: String, _ number: Int) {
        var draw = SeededRandom(seed: scenario.seed, 3, number)
        var publisher = FeedPublisher(name: name, host: "host\(number % scenario.hosts).example", random: draw)
        let manners = Self.manners(&draw)
        if scenario.publishersFail {
            publisher.manners = manners
            // Drawn apart, so that the recorded lives keep their other draws.
            var caches = SeededRandom(seed: scenario.seed, 4, number)
            publisher.manners.oldCopies = caches.pick([0, 0, 0, 30], or: 0)
            publisher.manners.lag = caches.pick([0, 0, 120], or: 0)
            publisher.saysTime = !caches.chance(percent: 20)
            publisher.datesChanges = publisher.manners.oldCopies > 0
        }
        var rules = FeedRules(name: name, url: publisher.url)
        rules.category = "World"
        rules.maxPerPoll = scenario.maxPerPoll
        rules.maxPerHour = scenario.maxPerHour
        rules.maxAge = draw.pick([.seconds(7_200), .seconds(3_600), nil], or: nil)
        rules.updates = draw.pick([.headline, .headline, .any], or: .headline)
        rules.isUndated = draw.chance(percent: 20)
        publisher.isUndated = rules.isUndated
        rules.catchUpIsLive = false
        // Drawn apart as well.
        var sights = SeededRandom(seed: scenario.seed, 5, number)
        if sights.chance(percent: 20) { rules.onFirstSight = .all }
        self.rules[name] = rules
        let backlog = draw.number(0...40)
        publisher.manners.withholds = draw.chance(percent: 25)
        if publisher.manners.withholds { agenda.add(.withhold(name), at: now + .seconds(900)) }
        for place in 0..<backlog {
            let age = Duration.seconds(86_400 - place * 600)
            publisher.publish(at: now, date: rules.isUndated ? nil : now - age, isBacklog: true)
        }
        publishers[name] = publisher
    }

    private static func manners(_ random: inout SeededRandom) -> FeedPublisher.Manners {
        var manners = FeedPublisher.Manners()
        manners.errors = random.pick([0, 0, 5, 40], or: 0)
        manners.timeouts = random.pick([0, 0, 5], or: 0)
        manners.brokenDocuments = random.pick([0, 0, 10], or: 0)
        manners.retryAfter = random.pick([0, 0, 10], or: 0)
        manners.liesAboutChange = random.pick([0, 0, 0, 40], or: 0)
        manners.changesTags = random.chance(percent: 20)
        manners.redirects = random.pick([0, 20], or: 0)
        manners.repeatsEntries = random.chance(percent: 20)
        manners.shuffles = random.pick([0, 0, 30], or: 0)
        manners.givesBytes = random.pick([0, 0, 30], or: 0)
        return manners
    }

    // MARK: - Running

    /// Runs the life to its end.
    public mutating func run() throws(FeedViolation) -> FeedLifeReport {
        for number in 0..<scenario.processes { processes.append(makeProcess(number, life: 0)) }
        for number in processes.indices { agenda.add(.start(number), at: now) }
        for name in names { agenda.add(.newsroom(name), at: now + random.milliseconds(1_000...600_000)) }
        agenda.add(.fault, at: now + .seconds(30))
        agenda.add(.compact, at: now + .seconds(1_800))
        agenda.add(.correctClocks, at: now + scenario.stormy / 2)
        let calm = now + scenario.stormy
        agenda.add(.calm, at: calm)
        agenda.add(.finish, at: calm + scenario.calm)
        agenda.add(.end, at: calm + scenario.calm + .seconds(300))
        report.feeds = names.count
        while let at = agenda.next, let occurrence = agenda.take(at: at) {
            now = max(now, at)
            if case .end = occurrence { break }
            try happen(occurrence)
        }
        try checkEnd()
        report.simulated = now - Self.start
        report.stories = publishers.values.reduce(0) { $0 + $1.items.count }
        report.events = lanes.count
        report.repeats = lanes.repeats
        report.updates = lanes.updates
        return report
    }

    private mutating func happen(_ occurrence: Occurrence) throws(FeedViolation) {
        if let number = occurrence.process, processes[number].pausedUntil > now {
            agenda.add(occurrence, at: processes[number].pausedUntil)
            return
        }
        switch occurrence {
        case .wake(let number, let life): try give(.tick, to: number, life: life)
        case .answer(let number, let life, let id, let request, let isCanceled):
            try answer(number, life, id, request, isCanceled: isCanceled)
        case .stored(let number, let life, let id, let partition, let records, let fails, let appearing):
            // The successor of a dead process, or of one that did not answer in time, has begun without these records.
            // It may be the same process, which was assigned the partition again.
            let isGone =
                processes[number].life != life || owners[Int(partition)] != number
                || processes[number].unanswered[id] == nil
            let isLate = isGone && owners[Int(partition)] != nil
            try append(Array(records.prefix(appearing)), to: partition, isLate: isLate)
            tell(fails ? .writeFailed(id, because: "the simulated broker is away") : .stored(id), number, life)
        case .published(let number, let life, let id, let lane, let events, let stored):
            try write(events.prefix(stored), to: lane)
            let fails = stored < events.count
            tell(fails ? .writeFailed(id, because: "the simulated broker is away") : .published(id), number, life)
        case .told(let number, let life, let input):
            if processes[number].life == life { processes[number].heard(input) }
            try give(input, to: number, life: life)
        case .deliver(let number, let life, let partition): try deliver(partition, to: number, life: life)
        case .newsroom(let name): newsroom(name)
        case .edit(let name, let number): publishers[name]?.edit(number, at: now)
        case .calmNews(let name, let round): calmNews(name, round)
        case .withhold(let name): withhold(name)
        case .setFree(let name, let number): publishers[name]?.withhold(number, false, at: now)
        case .fault: try makeFault()
        case .correctClocks: clockAhead = .zero
        case .start(let number): try start(number)
        case .sessionEnds(let number, let life, let partition):
            guard processes[number].life == life, processes[number].reading[partition] != nil else { return }
            processes[number].reading[partition] = nil
            try give(.lost([partition]), to: number, life: life)
        case .assign(let partition): try assign(partition)
        case .deadline(let number, let life, let partition):
            guard processes[number].life == life, owners[Int(partition)] == number, heirs[Int(partition)] != nil else {
                return
            }
            try checkHandover(of: partition, by: number)
            processes[number].reading[partition] = nil
            owners[Int(partition)] = nil
            try give(.lost([partition]), to: number, life: life)
            try assign(partition)
        case .compact:
            topic.compact(at: now)
            agenda.add(.compact, at: now + .seconds(1_800))
        case .calm: try becomeCalm()
        case .finish:
            for number in processes.indices { try give(.finish, to: number, life: processes[number].life) }
        case .end: break
        }
    }

    private mutating func write(_ events: ArraySlice<FeedEvent>, to lane: String) throws(FeedViolation) {
        for event in events {
            let comparesSummary = rules[event.feed]?.updates == .any
            try checkAge(event, lane: lane)
            let broken = lanes.append(event, lane: lane, comparesSummary: comparesSummary)
            if let (promise, sentence) = broken { try self.broken(promise, sentence) }
        }
    }

    func broken(_ promise: FeedPromise, _ sentence: String) throws(FeedViolation) {
        guard promises.contains(promise) else { return }
        throw FeedViolation(seed: scenario.seed, promise: promise, sentence: sentence, at: now - Self.start)
    }
}
