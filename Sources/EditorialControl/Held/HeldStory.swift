public import NewsModel

/// A selection of a story's held events.
public enum HeldPart: Sendable, Hashable {
    case all
    /// Only the events that are known to be older, because newer ones may have been held since: the versions up to this one (`nil`
    /// for none), and these events. They are named because some have no version, and not all versions can be compared.
    case older(upTo: NewsEvent.Version? = nil, [HeldOriginal] = [])
}

/// A story that has an event on the held topic, or no longer has one.
public struct HeldStory: Sendable, Hashable {
    public var story: String
    /// The highest held version; `nil` for an event without a version.
    public var version: NewsEvent.Version?
    /// The held event's source position. Of two events without versions, the later one on the same partition is newer.
    public var source: ResultRecord.Source?
    /// `nil` if it is not known.
    public var eventID: String?
    /// `nil` if the event could not be recognized on its source topic.
    public var original: HeldOriginal?
    /// The number of the source partition's incarnation (see `CommitNote`), as far as it was known when the event was held.
    public var incarnation = 0
    /// The timestamp of the held original.
    public var writtenAt: Instant?
    public var isHeld: Bool

    init(_ event: HeldEvent) {
        self.init(story: event.story, version: event.version, source: event.source, isHeld: true)
        eventID = event.eventID
        original = HeldOriginal(of: event)
        incarnation = event.incarnation
        writtenAt = event.writtenAt
    }

    public init(
        story: String, version: NewsEvent.Version? = nil, source: ResultRecord.Source? = nil, isHeld: Bool
    ) {
        self.story = story
        self.version = version
        self.source = source
        self.isHeld = isHeld
    }
}
