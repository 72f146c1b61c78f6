import NewsModel

/// The changes of one poll. Intents and known entries are stored on the state topic and read back, events are
/// published, and completion is stored. A feed has one batch at a time.
struct FeedBatch: Sendable {
    private(set) var stage: Stage
    private(set) var write = Write.idle
    /// Entries to store first, in order. Each entry with an intent leads to an event.
    let entries: [Entry]
    /// The feed's final state. It is stored last, because after a crash a 304 would hide entries that were not written.
    var feed: FeedState
    /// True if `feed` is stored too.
    let storesFeed: Bool
    /// The form that is posted to a hub once the state is stored.
    let post: WebSubRequest?
    /// Counts for the log if this is the feed's first reading.
    let firstReading: FirstReading?
    /// Records of the current stage that have not been read back yet, by key. A tombstone is an empty value.
    private var awaited: [String: [UInt8]] = [:]
    /// Intents that count, in the order in which they are published.
    private(set) var toPublish: [Publication] = []
    private(set) var published: [Publication] = []
    /// Number of events of `toPublish` in the write in flight.
    private(set) var publishing = 0
    /// True if another owner's record took precedence, so that the document must be read again.
    private(set) var wasOverruled = false
    /// Time since which the broker has state records of the batch that have not been read back; `nil` without any.
    private(set) var unreadSince: Instant?
    /// Time since which the broker has not taken a write of the batch; `nil` if it has taken all of them.
    private(set) var unwrittenSince: Instant?
    /// Number of consecutive writes that failed.
    private(set) var failures = 0

    init(
        feed: FeedState, entries: [Entry] = [], storesFeed: Bool, post: WebSubRequest? = nil,
        firstReading: FirstReading? = nil
    ) {
        stage = .storing
        self.feed = feed
        self.entries = entries
        self.storesFeed = storesFeed
        self.post = post
        self.firstReading = firstReading
    }

    /// - Parameter toPublish: intents that are on the state topic already.
    init(feed: FeedState, toPublish: [Publication]) {
        self.init(feed: feed, storesFeed: false)
        stage = .publishing
        self.toPublish = toPublish
    }

    enum Stage: Sendable {
        /// The entries are stored. Followed by `publishing`.
        case storing
        /// Events are published, one lane at a time. Followed by `closing`.
        case publishing
        /// The published entries and the feed are stored. The batch ends afterwards.
        case closing
    }

    /// The progress of the current stage's write.
    enum Write: Sendable, Hashable {
        case idle
        /// Followed by `acknowledged`, `failed` or `idle`. A write of state records without a reply is examined at `retryAt`.
        case inFlight(WriteID, retryAt: Instant)
        /// The broker has all state records, and some have not been read back.
        case acknowledged(WriteID, retryAt: Instant)
        case failed(retryAt: Instant)
    }

    struct Entry: Sendable {
        var hash: EntryHash
        /// `nil` forgets the entry.
        var record: EntryRecord?
    }

    struct Publication: Sendable {
        var hash: EntryHash
        var intent: Intent
    }

    struct FirstReading: Sendable {
        var known: Int
        var sent: Int
        /// Number of recalled and withheld entries of which events are written.
        var withdrawn: Int
    }

    /// Time after which a write without a reply is examined, and one that is not read back is repeated.
    static let patience: Duration = .seconds(60)

    /// The feed's state after the batch.
    func final(webSub: Subscription) -> FeedState {
        var feed = feed
        feed.webSub = webSub
        if wasOverruled { feed.forgetDocument() }
        return feed
    }

    /// True if the next events are to be published.
    var canPublish: Bool { stage == .publishing && write == .idle }

    // MARK: - Writes

    /// Begins to store the records of the current stage.
    /// - Returns: the time at which the write is examined, unless it succeeds earlier.
    mutating func store(_ records: [StateRecord], as id: WriteID, at now: Instant) -> Instant {
        awaited = Dictionary(records.map { ($0.key, $0.value ?? []) }, uniquingKeysWith: { _, last in last })
        write = .inFlight(id, retryAt: now + Self.patience)
        unwrittenSince = unwrittenSince ?? now
        return now + Self.patience
    }

    /// Continues to wait for the reply to a write of state records. The producer eventually answers each write, and a second copy
    /// would only queue behind the first.
    /// - Returns: the time of the next examination; `nil` if the broker has answered.
    mutating func waitOn(at now: Instant) -> Instant? {
        guard case .inFlight(let id, _) = write else { return nil }
        write = .inFlight(id, retryAt: now + Self.patience)
        return now + Self.patience
    }

    /// Begins to publish the next events.
    /// - Returns: events of one lane.
    mutating func publish(as id: WriteID, at now: Instant) -> (lane: String, events: ArraySlice<Publication>)? {
        guard let lane = toPublish.first?.intent.lane else { return nil }
        let events = toPublish.prefix { $0.intent.lane == lane }
        publishing = events.count
        write = .inFlight(id, retryAt: .distantFuture)
        unwrittenSince = unwrittenSince ?? now
        return (lane, events)
    }

    /// Records that the broker has all records of the write.
    mutating func acknowledge(at now: Instant) {
        guard case .inFlight(let id, let retryAt) = write else { return }
        write = .acknowledged(id, retryAt: retryAt)
        unwrittenSince = nil
        unreadSince = unreadSince ?? now
    }

    /// Records that the events in flight are published.
    /// - Returns: their number.
    mutating func publish() -> Int {
        published += toPublish.prefix(publishing)
        toPublish.removeFirst(publishing)
        write = .idle
        failures = 0
        unwrittenSince = nil
        return publishing
    }

    /// Records that the write has failed.
    /// - Returns: the time of the retry.
    mutating func fail(at now: Instant) -> Instant {
        failures += 1
        let retryAt = now + min(.seconds(1) * (1 << min(failures, 6)), .seconds(60))
        write = .failed(retryAt: retryAt)
        return retryAt
    }

    /// Returns true if the write has failed and its pause is over, or if it has not been completed for a while.
    func isRetryDue(at now: Instant) -> Bool {
        switch write {
        case .inFlight(_, let retryAt), .acknowledged(_, let retryAt), .failed(let retryAt): retryAt <= now
        case .idle: false
        }
    }

    /// Ends the write, because its records are on the topic, or because it is to be repeated.
    /// - Returns: the write in flight.
    mutating func endWrite() -> WriteID? {
        defer { write = .idle }
        switch write {
        case .inFlight(let id, _), .acknowledged(let id, _): return id
        case .idle, .failed: return nil
        }
    }

    // MARK: - Stages

    /// Returns true for a record of this batch that has not been read back.
    func awaits(_ key: String, _ value: [UInt8]) -> Bool { awaited[key] == value }

    /// Records that one of the batch's own records has been read back.
    /// - Returns: true if it was the last one of the stage.
    mutating func readBack(_ key: String, _ value: [UInt8]) -> Bool {
        guard awaits(key, value) else { return false }
        awaited[key] = nil
        guard awaited.isEmpty else { return false }
        failures = 0
        (unwrittenSince, unreadSince) = (nil, nil)
        return true
    }

    /// Begins to publish the intents that count.
    mutating func beginPublishing(_ counting: [EntryHash: Intent]) {
        for entry in entries {
            guard let intent = entry.record?.intent else { continue }
            if counting[entry.hash]?.event == intent.event {
                toPublish.append(Publication(hash: entry.hash, intent: intent))
            } else {
                wasOverruled = true
            }
        }
        stage = .publishing
    }

    mutating func beginClosing() { stage = .closing }

    mutating func overrule() { wasOverruled = true }
}
