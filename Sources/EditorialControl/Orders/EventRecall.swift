public import NewsModel

public struct EventRecall: Sendable, Hashable {
    public var story: String
    public var eventID: String
    public var source: ResultRecord.Source
    /// The record's timestamp, by the clock of its writer; `nil` if it has none.
    public var at: Instant?
    /// Id of the resulting order. It is the same in every process that reads the event.
    public var orderID: String { Self.orderPrefix + "\(source)" }

    static let orderPrefix = "event "

    public init(story: String, eventID: String, source: ResultRecord.Source, at: Instant?) {
        self.story = story
        self.eventID = eventID
        self.source = source
        self.at = at
    }
}
