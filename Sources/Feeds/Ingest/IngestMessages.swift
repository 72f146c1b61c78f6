public import NewsModel

// The inputs and outputs of `Ingester`.

public struct FetchID: Sendable, Hashable {
    public var number: UInt64
    public init(_ number: UInt64) { self.number = number }
}

public struct WriteID: Sendable, Hashable {
    public var number: UInt64
    public init(_ number: UInt64) { self.number = number }
}

/// A request to the WebSub callback that is not answered yet.
public struct CallbackID: Sendable, Hashable {
    public var number: UInt64
    public init(_ number: UInt64) { self.number = number }
}

/// Inputs of a process that follows feeds.
public enum IngestInput: Sendable, Hashable {
    /// The group assigned these partitions of the state topic to this process. Their records follow, then `restored`.
    case assigned([Int32])
    /// The partitions go to another process, and their records are no longer read. The answer is `released`, once none
    /// of their writes is in flight.
    case revoked([Int32])
    /// The partitions are lost already, because the session expired. Nothing may be written any more.
    case lost([Int32])
    /// A record of an assigned partition, in order from the first one. This process's own writes come back here too.
    case record(partition: Int32, offset: Int64, key: String, value: [UInt8]?)
    /// All records of the partition below this offset were removed, and not by compaction. Comes before `restored`, or at any
    /// time after it.
    case removed(partition: Int32, below: Int64)
    /// All records that the partition had when it was assigned have been handed over.
    case restored(partition: Int32)
    case fetched(FetchID, FetchResult)
    /// Every in-sync replica has all state records of the write. They come back as `record` too, unless the partition
    /// was revoked earlier.
    case stored(WriteID)
    /// Every in-sync replica has all events of the write.
    case published(WriteID)
    /// None of the write's state records will appear, or not all events were stored. The write is retried.
    case writeFailed(WriteID, because: String)
    /// The events at these indices of the write are too large and will never be stored. All others are stored.
    case refused(WriteID, events: [Int], because: String)
    /// A GET or POST to the WebSub callback.
    case called(CallbackID, WebSubCall)
    /// The names of feeds that editors have stopped (`stop feed:NAME`).
    case stopped(Set<String>)
    /// The settings name other feeds, or other rules for them.
    case rules(IngestSettings)
    /// Poll every feed of this process now, as far as politeness allows.
    case pollNow
    /// Time has passed. The answer to `wake`.
    case tick
    /// Finish everything in progress, and begin nothing.
    case finish
}

/// Actions for the shell.
public enum IngestAction: Sendable, Hashable {
    case fetch(FetchID, FetchRequest)
    /// The answer is not needed any more. `fetched` still follows, as `canceled`.
    case cancel(FetchID)
    /// Writes records to a partition of the state topic, in order. Answered by `stored` and a `record` for each.
    case store(WriteID, partition: Int32, [StateRecord])
    /// Writes events to a lane. Answered by `published` once all are acknowledged.
    case publish(WriteID, lane: String, [FeedEvent])
    case answer(CallbackID, WebSubAnswer)
    /// Posts a form to a WebSub hub. The hub's reply comes as `fetched`.
    case post(FetchID, WebSubRequest)
    /// Requests a `tick` at this time by the steady clock. Replaces the previous request.
    case wake(at: Instant)
    /// Nothing of these partitions is in flight any more.
    case released([Int32])
    /// Everything is finished; the answer to `finish`.
    case finished
    /// One log line for people.
    case note(IngestNote)
}

/// A record of the state topic; a `nil` value is a tombstone.
public struct StateRecord: Sendable, Hashable {
    public var key: String
    public var value: [UInt8]?

    public init(key: String, value: [UInt8]?) {
        self.key = key
        self.value = value
    }
}

/// An event to write, in the form that its record has.
public struct FeedEvent: Sendable, Hashable {
    public var feed: String
    /// The record's key: the story.
    public var key: String
    /// The event as a `news-event` document.
    public var value: [UInt8]

    public init(feed: String, key: String, value: [UInt8]) {
        self.feed = feed
        self.key = key
        self.value = value
    }
}

public struct IngestNote: Sendable, Hashable {
    public enum Level: String, Sendable, Hashable { case debug, info, notice, warning, error }
    public var level: Level
    public var feed: String?
    /// One sentence. It never contains an embargoed headline.
    public var text: String

    public init(_ level: Level, feed: String? = nil, _ text: String) {
        self.level = level
        self.feed = feed
        self.text = text
    }
}

public struct IngestSettings: Sendable, Hashable {
    /// The lane of feeds that do not name a lane.
    public var lane = "live"
    /// The lane for `onFirstSight: all`, and for entries that appeared while nobody polled.
    public var backfillLane = "backfill"
    /// All lanes of the configuration, also those of no feed, to which events of its feeds may have gone; `nil` if they are not known.
    public var allLanes: Set<String>?
    public var intervalMin: Duration = .seconds(60)
    public var intervalMax: Duration = .seconds(1_800)
    /// Maximum number of requests in flight.
    public var inFlightMax = 16
    /// Time between the end of a request and the next request to the same host.
    public var hostGap: Duration = .seconds(1)
    public var feeds: [FeedRules] = []
    /// The names of all other feeds of the configuration, which this process leaves alone.
    public var otherFeeds: Set<String> = []
    /// The public address that WebSub hubs call, ending in a slash. `nil` disables WebSub.
    public var webSubURL: String?
    /// Number of partitions with which the state topic was created. It decides which partition a feed belongs to.
    public var partitions: Int32 = 1
    /// Distinguishes this process's records from those of others. New at each start.
    public var writer = ""
    /// 32 random bytes, new at each start. The paths and secrets of WebSub callbacks are derived from them.
    public var secret: [UInt8] = []
    /// True if nothing is really written, as messages then say.
    public var isRehearsal = false

    public init() {}

    /// The lanes to which events of these feeds may go.
    public var lanes: Set<String> { Set(feeds.map { $0.lane ?? lane } + [backfillLane].filter { !$0.isEmpty }) }
}
