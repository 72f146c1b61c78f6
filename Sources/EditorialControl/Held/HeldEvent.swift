public import KafkaModel
public import NewsModel

/// What is known of one event on the held topic, apart from the event: its title is nobody's to see before its time.
public struct HeldEvent: Sendable, Hashable {
    public var eventID: String
    /// The key that orders the events of its story, and that of its record on the held topic: a newer version takes an older
    /// one's place.
    public var story: String
    public var version: NewsEvent.Version?
    /// By the clock on the wall.
    public var due: Instant
    public var because: Because
    /// The lane's name.
    public var lane: String
    /// Where it came from, and where it goes back to: the same topic and partition.
    public var source: ResultRecord.Source
    /// Of the original, so that it is recognized on its source topic; `nil` for records of former versions.
    public var identity: RecordIdentity?

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

/// Why an event comes back from the held topic; the value of the header `nw-held` of the record on its lane. What then becomes
/// of it, the engine decides.
public enum ReturnReason: String, Sendable, Hashable, CaseIterable {
    /// Its time has come.
    case due
    /// Its story was recalled.
    case recalled
    /// A newer version of its story came, which does not wait.
    case superseded
}
