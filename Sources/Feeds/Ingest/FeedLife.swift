import ByteText
import NewsModel

/// One feed of an owned partition.
struct FeedLife: Sendable, Hashable {
    let name: String
    let partition: Int32
    /// `nil` for a feed that is on the state topic but not in the settings.
    var rules: FeedRules?
    var state = FeedState()
    /// As it stands on the topic.
    var stored: FeedState?
    var log = EntryLog()
    var batch: FeedBatch?
    var fetch: Fetching?
    /// Answers and deliveries that wait for the batch under way.
    var waiting: [Arrival] = []
    /// The host in whose queue it waits.
    var queuedAt: String?
    /// Its record is to be stored as soon as nothing is under way.
    var wantsStore = false
    /// It came due while a batch was under way.
    var isDue = false
    /// By the steady clock; `nil` while nothing is planned.
    var nextPoll: Instant?
    var because = ""
    /// It has been said that nothing new comes.
    var isQuiet = false
    /// Tells the planned poll from plans before it.
    var plan: UInt64 = 0
    var counts = FeedCounts()
    /// The end of the last poll, by the wall clock.
    var lastPollAt: Instant?
    var hints: PollHints?
    var freshFor: Duration?
    /// By the steady clock: when what limits held back is looked at, and not before.
    var heldBackAt: Instant?
    var heldBackRetryAt: Instant?
    /// By the steady clock: when its hub is to be asked.
    var hubAt: Instant?
    /// The form that a hub is being sent.
    var post: FetchID?

    init(name: String, partition: Int32, rules: FeedRules?) {
        self.name = name
        self.partition = partition
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

    /// Deliveries that may wait for one feed.
    static let waitingMax = 4

    var isBusy: Bool { batch != nil || fetch != nil || post != nil }

    /// Where to fetch it from: a new address once it is sure.
    func url(at wall: Instant) -> String? {
        guard let rules else { return nil }
        if let move = state.move, move.isProven(at: wall), move.move.from == rules.url { return move.move.to }
        return rules.url
    }
}

extension FeedRules {
    /// The partition of the state topic that this feed belongs to, and with it the process that follows it. The feeds of
    /// a group belong together, or nobody could tell that two of them bring the same story.
    public func partition(among count: Int32) -> Int32 { Murmur2.partition(of: group ?? name, among: count) }
}
