public import NewsModel

/// Follows feeds: decides what to fetch, what to write to the state topic, and which events to publish. It has no clock
/// and no socket; the same inputs give the same actions.
///
/// Each event is written once, although processes crash and share the feeds. First an intent, which contains the whole
/// event, is written to the state topic. It counts only when it has been read back and no earlier record has the same
/// or a higher version. Then the event is published, then the entry is stored as done, and the publisher's validators
/// are stored last. A new owner publishes unfinished intents again, unchanged.
public struct Ingester {
    public internal(set) var settings: IngestSettings
    var rules: [String: FeedRules] = [:]
    var feeds = FeedTable()
    var partitions: [Int32: Partition] = [:]
    var groups: [String: GroupMemory] = [:]
    var queue: HostQueue
    var timers = TimerHeap<Due>()
    /// Requests in flight, and their feeds. A request outlives its feed.
    var fetches: [FetchID: Fetch] = [:]
    var writes: [WriteID: String] = [:]
    /// Feeds' names by the last part of their WebSub callbacks' paths.
    var callbacks: [String: String] = [:]
    var stopped: Set<String> = []
    var batches = 0
    var isFinishing = false
    var hasFinished = false
    var lastID: UInt64 = 0
    var lastOrder: Int64 = 0
    var assignments = 0
    var lastSecret: UInt64 = 0
    var announcedWake = Instant.distantFuture
    var actions: [IngestAction] = []
    let parser = JSONParser(sizeMax: Self.recordMax)

    /// Maximum bytes of a state record. An event in it has at most a quarter of that.
    static let recordMax = 4 * EventLimits.document
    /// Number of batches in progress at which no further poll begins.
    static let batchesMax = 64

    struct Partition: Sendable, Hashable {
        /// See `FollowedFeed.writer`.
        let writer: String
        var stage = Stage.restoring
        var names: Set<String> = []
        /// Offset of the last record read.
        var readTo: Int64 = -1
        /// Records below this offset were removed, and not by compaction.
        private(set) var start: Int64 = 0

        mutating func begin(at offset: Int64) {
            guard offset > 0 else { return }
            start = offset
            readTo = max(readTo, offset - 1)
        }

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
        /// Ignored if another plan has replaced the one for this time.
        case poll(String, at: Instant)
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

    /// - Returns: the actions for the shell, in this order.
    public mutating func handle(_ input: IngestInput, at now: Moment) -> [IngestAction] {
        receive(input, at: now)
        work(at: now)
        return exchange(&actions, with: [])
    }

    private mutating func receive(_ input: IngestInput, at now: Moment) {
        switch input {
        case .assigned(let numbers): assign(numbers)
        case .revoked(let numbers): revoke(numbers)
        case .lost(let numbers): lose(numbers)
        case .record(let partition, let offset, let key, let value): read(partition, offset, key, value, at: now)
        case .removed(let partition, let offset): removed(partition, below: offset)
        case .restored(let partition): restored(partition, at: now)
        case .fetched(let id, let result): fetched(id, result, at: now)
        case .stored(let id): stored(id, at: now)
        case .published(let id): published(id, at: now)
        case .refused(let id, let places, let because): refused(id, places, because: because, at: now)
        case .writeFailed(let id, let because): writeFailed(id, because: because, at: now)
        case .called(let id, let call): receive(call, id, at: now)
        case .stopped(let names): stop(names, at: now)
        case .rules(let settings): reload(settings, at: now)
        case .pollNow: change(feeds.names) { $0.plan(&$1, at: now.steady, because: "asked for", now) }
        case .tick: break
        case .finish: finish()
        }
    }

    /// Does the work that is due, and requests a wake-up for the next.
    private mutating func work(at now: Moment) {
        while let due = timers.take(at: now.steady) {
            switch due {
            case .poll(let name, let due): change(name) { $0.poll(&$1, due: due, at: now) }
            case .batch(let name): change(name) { $0.retryBatch(&$1, at: now) }
            case .hub(let name): change(name) { $0.askHub(&$1, at: now) }
            case .heldBack(let name): change(name) { $0.releaseHeldBack(&$1, at: now) }
            }
        }
        while let turn = queue.next(at: now.steady) { change(turn.feed) { $0.fetch(&$1, host: turn.host, at: now) } }
        settle()
        let wake = min(timers.next ?? .distantFuture, queue.wakeAt ?? .distantFuture)
        if wake < .distantFuture, wake != announcedWake || wake <= now.steady { actions.append(.wake(at: wake)) }
        announcedWake = wake
    }

    // MARK: - Feeds

    /// Changes one feed together with the process. Does nothing without such a feed.
    mutating func change(_ name: String?, _ body: (inout Ingester, inout FollowedFeed) -> Void) {
        guard let name else { return }
        var lent = feeds.lend(name)
        guard !lent.isEmpty else { return }
        body(&self, &lent[0])
        feeds.giveBack(lent)
    }

    /// Changes feeds in the order of their names.
    mutating func change(
        _ names: (some Sequence<String>)?, _ body: (inout Ingester, inout FollowedFeed) -> Void
    ) {
        for name in names?.sorted() ?? [] { change(name, body) }
    }

    /// True if the feed may be followed by this process.
    func isOwned(_ feed: FollowedFeed) -> Bool { partitions[feed.partition]?.stage == .owned }

    /// True if more may be begun for the feed.
    func isActive(_ feed: FollowedFeed) -> Bool { !isFinishing && isOwned(feed) }

    /// True if the feed is polled and its events are written.
    func isSending(_ feed: FollowedFeed) -> Bool {
        isActive(feed) && feed.rules != nil && !stopped.contains(feed.name)
    }

    // MARK: - Helpers

    mutating func nextID() -> UInt64 {
        lastID += 1
        return lastID
    }

    /// The place of the next intent among all of this process.
    mutating func nextOrder() -> Int64 {
        lastOrder += 1
        return lastOrder
    }

    mutating func note(_ level: IngestNote.Level, _ feed: String?, _ text: String) {
        actions.append(.note(IngestNote(level, feed: feed, text)))
    }
}
