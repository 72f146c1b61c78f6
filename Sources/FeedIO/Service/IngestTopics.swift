public import Feeds
public import KafkaModel
import NewsModel

/// The topics that a process reads and writes when it follows feeds.
public struct IngestTopics: Sendable, Hashable {
    public var state: String
    /// The topic of editors' orders in force; followed if it exists.
    public var control: String
    /// The topics for events, by lane.
    public var lanes: [String: String]
    /// Written into each event's headers; `nil` writes nothing.
    public var environment: String?

    public init(state: String, control: String, lanes: [String: String], environment: String? = nil) {
        self.state = state
        self.control = control
        self.lanes = lanes
        self.environment = environment
    }

    /// The topic for events of a lane. An event that was stored before its lane was renamed or removed goes to another lane, because
    /// its feed would wait for it for ever.
    /// - Parameter other: the lane of feeds that name none.
    func topic(ofLane lane: String, otherwise other: String) -> String { lanes[lane] ?? lanes[other] ?? "" }

    /// The record of an event. Its key is the story, so that updates of a story stay in order.
    public func record(_ event: FeedEvent, topic: String) -> ProducedRecord {
        var headers = [RecordHeader("nw-feed", event.feed)]
        if let environment { headers.append(RecordHeader("nw-environment", environment)) }
        return ProducedRecord(topic: topic, key: Array(event.key.utf8), value: event.value, headers: headers)
    }
}
