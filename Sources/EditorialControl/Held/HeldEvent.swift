public import KafkaModel
public import NewsModel

/// The data about one event on the held topic, without the event itself, because its title is confidential until its time.
public struct HeldEvent: Sendable, Hashable {
    public var eventID: String
    /// The key of its held record, see `HeldKey`. A newer version replaces an older one.
    public var story: String
    public var version: NewsEvent.Version?
    /// The time at which the event is due, by the wall clock.
    public var due: Instant
    public var because: Because
    /// The name of its lane.
    public var lane: String
    /// The event's position on its source topic. It returns to the same partition.
    public var source: ResultRecord.Source
    /// The identity of the original, to recognize it on its source topic; `nil` for records of former versions.
    public var identity: RecordIdentity?
    /// The number of the source partition's incarnation (see `CommitNote`), as far as it was known when the event was held.
    public var incarnation = 0
    /// The story's event that was held before belongs to a former incarnation of the source partition, so this one takes its place.
    public var replacesFormer = false
    /// The timestamp of the original.
    public var writtenAt: Instant?
    /// The time at which a process wrote the original to its lane again, because the held topic had lost the event.
    public var restoredAt: Instant?

    public enum Because: String, Sendable, Hashable, CaseIterable {
        case embargo
        case quietHours = "quiet-hours"
    }

    public init(
        eventID: String, story: String, version: NewsEvent.Version?, due: Instant, because: Because, lane: String,
        source: ResultRecord.Source, identity: RecordIdentity? = nil
    ) {
        self.eventID = eventID
        self.story = story
        self.version = version
        self.due = due
        self.because = because
        self.lane = lane
        self.source = source
        self.identity = identity
    }
}

/// The reason why an event returns from the held topic; the value of the header `nw-held` on its lane. The engine decides what
/// happens to it.
public enum ReturnReason: String, Sendable, Hashable, CaseIterable {
    case due
    /// The event's story was recalled.
    case recalled
    /// A newer version of its story arrived and does not wait.
    case superseded
}
