import KafkaModel
public import NewsModel

/// Which of a story's held events are meant.
public enum HeldPart: Sendable, Hashable {
    case all
    /// No newer version: one may have been held since. Without a version, all are.
    case upTo(NewsEvent.Version)
    /// Those that have no version.
    case withoutVersion
}

/// A story that has an event on the held topic, or has none any more.
public struct HeldStory: Sendable, Hashable {
    public var story: String
    /// The highest version that is held; `nil` for an event without one.
    public var version: NewsEvent.Version?
    /// Where the held event came from: of two events without versions, the later one on the same partition is the newer.
    public var source: ResultRecord.Source?
    public var isHeld: Bool

    public init(
        story: String, version: NewsEvent.Version? = nil, source: ResultRecord.Source? = nil, isHeld: Bool
    ) {
        self.story = story
        self.version = version
        self.source = source
        self.isHeld = isHeld
    }
}
