public import NewsModel

/// A recall that an event of the stream has given.
public struct EventRecall: Sendable, Hashable {
    public var story: String
    public var eventID: String
    public var source: ResultRecord.Source
    /// When the event was written to its topic.
    public var at: Instant
    /// The id of the order that is made of it: the same in every process that reads the event.
    public var orderID: String { Self.orderPrefix + "\(source)" }

    static let orderPrefix = "event "

    public init(story: String, eventID: String, source: ResultRecord.Source, at: Instant) {
        self.story = story
        self.eventID = eventID
        self.source = source
        self.at = at
    }
}
