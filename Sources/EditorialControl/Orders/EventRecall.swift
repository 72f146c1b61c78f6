public import NewsModel

/// A recall that an event of the stream has given.
public struct EventRecall: Sendable, Hashable {
    public var story: String
    public var eventID: String
    public var source: ResultRecord.Source
    /// When the event was written to its topic.
    public var at: Instant

    public init(story: String, eventID: String, source: ResultRecord.Source, at: Instant) {
        self.story = story
        self.eventID = eventID
        self.source = source
        self.at = at
    }
}
