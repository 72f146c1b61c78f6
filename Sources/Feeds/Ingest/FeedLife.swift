import ByteText
import NewsModel

/// One feed in a partition of this process.
struct FeedLife: Sendable, Hashable {
    let name: String
    let partition: Int32
    /// Distinguishes the records of one assignment of the partition: a process may lose it and get it back while its records are
    /// on their way.
    let writer: String
    /// `nil` for a feed that is on the state topic but not in the settings.
    var rules: FeedRules?
    var state = FeedState()
    /// The feed's record on the topic; `nil` if it is missing or out of date.
    var stored: FeedState?
    var log = EntryLog()
    var batch: FeedBatch?
    var fetch: Fetching?
    /// Answers and deliveries that wait until the current batch ends.
    var waiting: [Arrival] = []
    /// The host in whose queue the feed waits.
    var queuedAt: String?
    /// True if the feed's record is to be stored once no batch is in progress.
    var wantsStore = false
    /// True if a poll became due while a batch was in progress.
    var isDue = false
    /// Time by the steady clock; `nil` if no poll is planned.
    var nextPoll: Instant?
    var because = ""
    /// True if the feed was quiet after the last poll. Each silence is logged once.
    var isQuiet = false
    /// Number of the current plan. Timers of earlier plans are ignored.
    var plan: UInt64 = 0
    var counts = FeedCounts()
    /// End of the last poll, by the wall clock.
    var lastPollAt: Instant?
    var hints: PollHints?
    var freshFor: Duration?
    /// Time by the steady clock at which held-back events are examined next.
    var heldBackAt: Instant?
    var heldBackRetryAt: Instant?
    /// Time by the steady clock at which the hub is asked next.
    var hubAt: Instant?
    /// The items of the last document that could not be read.
    var skipped: [SkippedItem] = []
    /// The form in flight to a hub.
    var post: FetchID?

    init(name: String, partition: Int32, writer: String, rules: FeedRules?) {
        self.name = name
        self.partition = partition
        self.writer = writer
        self.rules = rules
    }

    struct Fetching: Sendable, Hashable {
        var id: FetchID
        var request: FetchRequest
        var host: String
    }

    enum Arrival: Sendable, Hashable {
        case answer(FetchResult, FetchRequest)
        case delivery(FeedDocument)
    }

    /// Number of waiting answers and deliveries at which further deliveries are refused.
    static let waitingMax = 4

    var isBusy: Bool { batch != nil || fetch != nil || post != nil }

    /// The address to fetch: the new one once a permanent move is proven.
    func url(at wall: Instant) -> String? {
        guard let rules else { return nil }
        if let move = state.move, move.isProven(at: wall), move.move.from == rules.url { return move.move.to }
        return rules.url
    }
}

extension FeedRules {
    /// The partition of the state topic that the feed belongs to; its owner follows the feed. Feeds of a group share a
    /// partition, so that one process can detect the same story in two of them.
    public func partition(among count: Int32) -> Int32 { Murmur2.partition(of: group ?? name, among: count) }
}
