import NewsModel

/// What one poll changes, on its way through the state topic: intents and known entries are stored and read back, then
/// events are published, then it is stored that they are. One at a time for a feed.
struct FeedBatch: Sendable, Hashable {
    var stage = Stage.storing
    /// Entries to store first, in order; those with an intent lead to an event.
    var entries: [Entry] = []
    /// The feed's state once all is done: never before, or a crash would lose what a 304 then hides.
    var feed: FeedState
    /// The feed's state is to be stored too.
    var storesFeed: Bool
    /// To be posted to a hub once the state is stored.
    var post: WebSubRequest?
    /// Of this stage's records, those that have not been read back yet; a tombstone is an empty value.
    var awaiting: [String: [UInt8]] = [:]
    /// Intents that count, to be published in order.
    var toPublish: [Publication] = []
    var published: [Publication] = []
    /// An intent came too late: another owner's counts, and the document must be read again.
    var wasOverruled = false
    /// The size of the feed's first reading, if this is it.
    var firstReading: FirstReading?
    /// The write under way.
    var write: WriteID?
    /// The broker has all records of `write`; they have not all been read back.
    var isAcknowledged = false
    /// How many of `toPublish` it holds.
    var publishing = 0
    /// By the steady clock: when to write again, if nothing comes back until then.
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

    /// Seconds until a write that nothing is heard of is written again.
    static let patience: Duration = .seconds(60)

    static func pause(after failures: Int) -> Duration { min(.seconds(1) * (1 << min(failures, 6)), .seconds(60)) }
}
