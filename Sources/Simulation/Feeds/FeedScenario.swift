import ByteText
public import Feeds
public import NewsModel

/// One life of followed feeds, drawn from a seed: feeds and their rules, publishers' behavior, processes and faults.
public struct FeedScenario: Sendable, Hashable {
    public var seed: UInt64
    public var processes: Int
    public var partitions: Int32
    public var feeds: Int
    public var hosts: Int
    /// Duration of the faults. Afterwards, servers and Kafka work until the end.
    public var stormy: Duration
    public var calm: Duration
    /// Percentages of the opportunities.
    public var crashes: Int
    public var rebalances: Int
    public var lostSessions: Int
    public var failedWrites: Int
    public var maxPerPoll: Int
    public var maxPerHour: Int
    /// False if publishers answer every request correctly. Their items still change.
    public var publishersFail = true
    /// The error of all processes' wall clocks for the first half of the faulty period.
    public var clockAhead: Duration

    public init(seed: UInt64) {
        self.seed = seed
        var random = SeededRandom(seed: seed, 1)
        processes = random.number(1...3)
        partitions = Int32(random.number(1...3))
        feeds = random.number(1...5)
        hosts = random.number(1...2)
        stormy = .seconds(random.number(1_800...14_400))
        calm = .seconds(6 * 3_600)
        crashes = random.pick([0, 1, 3, 8], or: 0)
        rebalances = random.pick([0, 2, 8], or: 0)
        lostSessions = processes > 1 ? random.pick([0, 0, 3, 8], or: 0) : 0
        failedWrites = random.pick([0, 2, 15], or: 0)
        maxPerPoll = random.pick([3, 1_000, 1_000], or: 1_000)
        maxPerHour = random.pick([4, 20, 1_000, 1_000], or: 1_000)
        clockAhead = .seconds(random.pick([0, 0, 0, 3_600, 10_800], or: 0))
    }
}

/// Figures of feed lives that kept every promise.
public struct FeedLifeReport: Sendable, Hashable {
    public var feeds = 0
    public var polls = 0
    public var documents = 0
    public var stories = 0
    /// Number of events on the lanes, including repeats.
    public var events = 0
    /// Number of repeats of the same version of an event. The publisher settles them as duplicates.
    public var repeats = 0
    public var updates = 0
    public var crashes = 0
    public var rebalances = 0
    public var lostSessions = 0
    public var failedWrites = 0
    public var inputs = 0
    public var simulated: Duration = .zero

    public init() {}

    public static func + (lhs: FeedLifeReport, rhs: FeedLifeReport) -> FeedLifeReport {
        var sum = lhs
        sum.feeds += rhs.feeds
        sum.polls += rhs.polls
        sum.documents += rhs.documents
        sum.stories += rhs.stories
        sum.events += rhs.events
        sum.repeats += rhs.repeats
        sum.updates += rhs.updates
        sum.crashes += rhs.crashes
        sum.rebalances += rhs.rebalances
        sum.lostSessions += rhs.lostSessions
        sum.failedWrites += rhs.failedWrites
        sum.inputs += rhs.inputs
        sum.simulated += rhs.simulated
        return sum
    }
}

/// The checked promises about feeds, by name.
public enum FeedPromise: String, Sendable, Hashable, CaseIterable {
    case nothingLost = "every new entry and version is written"
    case oneVersion = "a version has one content, and versions go forward"
    case nothingTwice = "nothing is written twice under another version or id"
    case noBacklog = "the backlog is never sent"
    case bounded = "a feed alerts at most maxPerHour times an hour"
    case handsOver = "a partition that is asked back is released as soon as its writes are answered"
    case politeness = "one request at a time to a host, and none before it wants one"
    case boundedMemory = "memory is bounded"
    case ends = "everything ends when it is asked to"
}

/// A broken promise about feeds.
public struct FeedViolation: Error, Sendable, Hashable, CustomStringConvertible {
    public var seed: UInt64
    public var promise: FeedPromise
    public var sentence: String
    /// Time since the start of the life.
    public var at: Duration

    public var description: String {
        """
        seed \(seed): \(promise.rawValue): \(sentence) (after \(at.components.seconds) s)
        again: newswire simulate --model feeds --seed \(seed) --lives 1
        """
    }
}

/// Intercepts the traffic between an ingester and its world, to plant a bug that a checker must find.
public protocol FeedInterference {
    /// Changes an input of the ingester; `nil` drops it.
    mutating func alter(_ input: IngestInput, at now: Instant) -> IngestInput?
    /// Changes the ingester's actions. The returned inputs are its next ones.
    mutating func alter(_ actions: inout [IngestAction]) -> [IngestInput]
}

extension FeedInterference {
    public mutating func alter(_ input: IngestInput, at now: Instant) -> IngestInput? { input }
    public mutating func alter(_ actions: inout [IngestAction]) -> [IngestInput] { [] }
}

/// A world without a planted bug.
public struct NoInterference: FeedInterference {
    public init() {}
}
