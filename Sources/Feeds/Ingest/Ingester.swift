public import NewsModel

/// Follows feeds: says what to fetch, what to write to the state topic, and which events to publish. Knows no clock and no
/// socket; the same inputs give the same actions.
///
/// An event is written once, although processes crash and share the feeds: first its intent goes onto the state topic, the
/// whole event with it. It counts only when it has been read back from there with no record of the same or a higher version
/// before it. Then the event is published, then the entry is stored as done, and only then what the publisher gave to ask by.
/// Whoever takes over publishes intents that are not done again, as they are.
public struct Ingester {
    public internal(set) var settings: IngestSettings
    var rules: [String: FeedRules] = [:]
    var lives: [String: FeedLife] = [:]
    var partitions: [Int32: Partition] = [:]
    var groups: [String: GroupMemory] = [:]
    var queue: HostQueue
    var timers = TimerHeap<Due>()
    /// Requests under way, and the feeds that they are for; a request outlives its feed.
    var fetches: [FetchID: Fetch] = [:]
    var writes: [WriteID: String] = [:]
    /// WebSub callbacks by the last part of their paths.
    var callbacks: [String: String] = [:]
    var stopped: Set<String> = []
    var batches = 0
    var isFinishing = false
    var hasFinished = false
    var lastID: UInt64 = 0
    var lastOrder: Int64 = 0
    var lastSecret: UInt64 = 0
    var announcedWake: Instant?
    var actions: [IngestAction] = []
    let parser = JSONParser(sizeMax: Self.recordMax)

    /// Bytes of a state record; an event in it is at most a quarter.
    static let recordMax = 4 * EventLimits.document
    /// Batches under way; beyond it, no poll begins.
    static let batchesMax = 64

    struct Partition: Sendable, Hashable {
        var stage = Stage.restoring
        var names: Set<String> = []

        enum Stage: Sendable, Hashable { case restoring, owned, leaving }
    }

    struct Fetch: Sendable, Hashable {
        var feed: String
        /// `nil` for a form to a hub.
        var host: String?
        /// `nil` for a form to a hub.
        var request: FetchRequest?
    }

    enum Due: Sendable, Hashable {
        case poll(String, plan: UInt64)
        case batch(String)
        case hub(String)
        case heldBack(String)
    }

    public init(_ settings: IngestSettings) {
        self.settings = settings
        queue = HostQueue(gap: settings.hostGap, inFlightMax: settings.inFlightMax)
        rules = Self.byName(settings.feeds)
    }

    static func byName(_ feeds: [FeedRules]) -> [String: FeedRules] {
        Dictionary(feeds.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// - Returns: what the shell shall do, in this order.
    public mutating func handle(_ input: IngestInput, at now: Moment) -> [IngestAction] {
        take(input, at: now)
        work(at: now)
        defer { actions.removeAll(keepingCapacity: true) }
        return actions
    }

    private mutating func take(_ input: IngestInput, at now: Moment) {
        switch input {
        case .assigned(let numbers): assign(numbers)
        case .revoked(let numbers): revoke(numbers, at: now)
        case .lost(let numbers): lose(numbers)
        case .record(let partition, let key, let value): read(partition, key, value, at: now)
        case .restored(let partition): restored(partition, at: now)
        case .fetched(let id, let result): fetched(id, result, at: now)
        case .stored(let id): stored(id)
        case .published(let id): published(id, refused: [], at: now)
        case .refused(let id, let places, let because):
            refused(id, places, because: because, at: now)
        case .writeFailed(let id, let because): writeFailed(id, because: because, at: now)
        case .called(let id, let call): called(id, call, at: now)
        case .stopped(let names): stop(names, at: now)
        case .rules(let settings): reload(settings, at: now)
        case .pollNow: for name in lives.keys.sorted() { plan(name, at: now.steady, because: "asked for", now) }
        case .tick: break
        case .finish: finish(at: now)
        }
    }

    /// Does what is due, and asks to be woken for the next.
    private mutating func work(at now: Moment) {
        while let due = timers.take(at: now.steady) {
            switch due {
            case .poll(let name, let plan): pollDue(name, plan: plan, at: now)
            case .batch(let name): retryBatch(name, at: now)
            case .hub(let name): askHub(name, at: now)
            case .heldBack(let name): releaseHeldBack(name, at: now)
            }
        }
        while let turn = queue.next(at: now.steady) { beginFetch(turn.feed, host: turn.host, at: now) }
        settle(at: now)
        let wake = [timers.next, queue.wakeAt].compactMap(\.self).min()
        if let wake, wake != announcedWake || wake <= now.steady {
            actions.append(.wake(at: wake))
        }
        announcedWake = wake
    }

    // MARK: - Small things

    mutating func nextID() -> UInt64 {
        lastID += 1
        return lastID
    }

    mutating func note(_ level: IngestNote.Level, _ feed: String?, _ text: String) {
        actions.append(.note(IngestNote(level, feed: feed, text)))
    }

    func isOwned(_ name: String) -> Bool {
        guard let life = lives[name] else { return false }
        return partitions[life.partition]?.stage == .owned
    }
}
