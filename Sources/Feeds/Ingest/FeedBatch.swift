import NewsModel

/// The changes of one poll. Intents and known entries are stored on the state topic and read back, events are
/// published, and completion is stored. A feed has one batch at a time.
struct FeedBatch: Sendable, Hashable {
    var stage = Stage.storing
    /// Entries to store first, in order. Each entry with an intent leads to an event.
    var entries: [Entry] = []
    /// The feed's final state. It is stored last, because after a crash a 304 would hide entries that were not written.
    var feed: FeedState
    /// True if `feed` is stored too.
    var storesFeed: Bool
    /// The form that is posted to a hub once the state is stored.
    var post: WebSubRequest?
    /// Records of the current stage that have not been read back yet, by key. A tombstone is an empty value.
    var awaiting: [String: [UInt8]] = [:]
    /// Intents that count, in the order in which they are published.
    var toPublish: [Publication] = []
    var published: [Publication] = []
    /// True if another owner's record took precedence, so that the document must be read again.
    var wasOverruled = false
    /// Counts for the log if this is the feed's first reading.
    var firstReading: FirstReading?
    /// The write in flight.
    var write: WriteID?
    /// True once the broker has all records of `write`, even if some have not been read back.
    var isAcknowledged = false
    /// Number of events of `toPublish` in the write in flight.
    var publishing = 0
    /// Time by the steady clock at which the write is retried, unless it succeeds earlier.
    var retryAt: Instant?
    var failures = 0

    init(feed: FeedState, storesFeed: Bool) {
        self.feed = feed
        self.storesFeed = storesFeed
    }

    enum Stage: Sendable, Hashable {
        case storing, publishing, closing
    }

    struct Entry: Sendable, Hashable {
        var hash: EntryHash
        /// `nil` forgets the entry.
        var record: EntryRecord?
    }

    struct Publication: Sendable, Hashable {
        var hash: EntryHash
        var intent: Intent
    }

    struct FirstReading: Sendable, Hashable {
        var known: Int
        var sent: Int
    }

    /// Time without a reply after which a write is retried.
    static let patience: Duration = .seconds(60)

    static func pause(after failures: Int) -> Duration { min(.seconds(1) * (1 << min(failures, 6)), .seconds(60)) }
}
