public import Feeds
import KafkaIO
public import KafkaModel
import NewsModel

/// The feeds' states on the topics, read once by a process that follows no feed.
public struct StoredFeeds: Sendable {
    public private(set) var states: [String: FeedState] = [:]
    /// Names of feeds that editors have stopped.
    public private(set) var stopped: Set<String> = []

    /// Blocks while the topics are read.
    public init(_ settings: IngestService.Settings) throws(KafkaFailure) {
        let topics = settings.topics
        let counts = try KafkaAdmin(settings: settings.kafka).partitionCounts(of: [topics.state, topics.control])
        if counts[topics.control] != nil {
            let reader = try TopicReader(settings: settings.kafka, topic: topics.control)
            while !reader.isAtEnd {
                for read in try reader.next() { applyOrder(read.record) }
            }
        }
        guard counts[topics.state] != nil else { return }
        let reader = try TopicReader(settings: settings.kafka, topic: topics.state)
        while !reader.isAtEnd {
            for read in try reader.next() { apply(read.record) }
        }
    }

    init() {}

    mutating func applyOrder(_ record: SourceRecord) { StoppedFeeds.apply(record, to: &stopped) }

    mutating func apply(_ record: SourceRecord) {
        guard let key = record.key.flatMap({ String(validating: $0, as: UTF8.self) }), let value = record.value,
            let stored = FeedState.stored(key: key, value: value)
        else { return }
        states[stored.feed] = stored.state
    }
}
