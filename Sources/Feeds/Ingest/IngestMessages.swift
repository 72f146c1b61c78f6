public import NewsModel

// What goes into and comes out of `Ingester`.

public struct FetchID: Sendable, Hashable {
    public var number: UInt64
    public init(_ number: UInt64) { self.number = number }
}

public struct WriteID: Sendable, Hashable {
    public var number: UInt64
    public init(_ number: UInt64) { self.number = number }
}

/// A request to the WebSub callback that waits for its answer.
public struct CallbackID: Sendable, Hashable {
    public var number: UInt64
    public init(_ number: UInt64) { self.number = number }
}

/// What happens to a process that follows feeds.
public enum IngestInput: Sendable, Hashable {
    /// The group gave these partitions of the state topic to this process. Their records follow, then `restored`.
    case assigned([Int32])
    /// They go to another process, and no record of theirs is read any more; `released` answers when none of their writes is
    /// in flight.
    case revoked([Int32])
    /// They are gone already (the session ran out): nothing may be written any more.
    case lost([Int32])
    /// A record of an assigned partition, in order from its beginning; this process's own writes come back here too.
    case record(partition: Int32, key: String, value: [UInt8]?)
    /// Everything that stood on the partition at its assignment has been handed over.
    case restored(partition: Int32)
    case fetched(FetchID, FetchResult)
    /// All state records of the write are on every in-sync replica. They come back as `record` too, unless the partition was
    /// revoked before.
    case stored(WriteID)
    /// All events of the write are on every in-sync replica.
    case published(WriteID)
    /// None of the write's state records will appear, or not all events were stored. It is tried again.
    case writeFailed(WriteID, because: String)
    /// The events at these places of the write will never be stored, as they are too large; all others are.
    case refused(WriteID, events: [Int], because: String)
    /// A GET or POST to the WebSub callback.
    case called(CallbackID, WebSubCall)
    /// The names of feeds that editors have stopped (`stop feed:NAME`).
    case stopped(Set<String>)
    /// Other feeds, or other rules for them.
    case rules(IngestSettings)
    /// Poll every feed of this process now, as far as politeness allows.
    case pollNow
    /// Time has passed: the answer to `wake`.
    case tick
    /// Finish what is under way and begin nothing.
    case finish
}

/// What the shell shall do.
public enum IngestAction: Sendable, Hashable {
    case fetch(FetchID, FetchRequest)
    /// The answer is not wanted any more; `fetched` still comes, as `canceled`.
    case cancel(FetchID)
    /// Writes records to a partition of the state topic, in order; answered by `stored`. Each comes back as `record`.
    case store(WriteID, partition: Int32, [StateRecord])
    /// Writes events to a lane; answered by `published` once all are acknowledged.
    case publish(WriteID, lane: String, [FeedEvent])
    case answer(CallbackID, WebSubAnswer)
    /// A form POST to a WebSub hub; its answer comes as `fetched`.
    case post(FetchID, WebSubRequest)
    /// Hand in `tick` at this time by the steady clock; replaces the one before.
    case wake(at: Instant)
    /// Nothing of these partitions is under way any more.
    case released([Int32])
    /// Everything is finished after `finish`.
    case finished
    /// For people: one log line.
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

/// An event to write, as it goes onto the record.
public struct FeedEvent: Sendable, Hashable {
    public var feed: String
    /// The record's key: the story.
    public var key: String
    /// The `news-event` document.
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
    /// One sentence. An embargoed headline never stands in it.
    public var text: String

    public init(_ level: Level, feed: String? = nil, _ text: String) {
        self.level = level
        self.feed = feed
        self.text = text
    }
}

public struct IngestSettings: Sendable, Hashable {
    /// The lane of feeds that name none.
    public var lane = "live"
    /// The lane for `onFirstSight: all` and for what appeared while nobody polled.
    public var backfillLane = "backfill"
    public var intervalMin: Duration = .seconds(60)
    public var intervalMax: Duration = .seconds(1_800)
    /// Requests under way at the same time.
    public var inFlightMax = 16
    /// Between the end of a request and the next one to the same host.
    public var hostGap: Duration = .seconds(1)
    public var feeds: [FeedRules] = []
    /// The public address that WebSub hubs call, ending in a slash; `nil` switches WebSub off.
    public var webSubURL: String?
    /// The partitions of the state topic when it was made; feeds are shared out by it.
    public var partitions: Int32 = 1
    /// Tells this process's records from those of others; new at each start.
    public var writer = ""
    /// 32 random bytes, new at each start: the paths and secrets of WebSub callbacks are made of them.
    public var secret: [UInt8] = []

    public init() {}
}
