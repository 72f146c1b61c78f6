import Feeds
import KafkaIO
import KafkaModel
import Logging

/// The destination of an ingester's writes. Its answers come back as inputs.
protocol FeedStore: Sendable {
    func store(_ write: WriteID, partition: Int32, _ records: [StateRecord])
    func publish(_ write: WriteID, lane: String, _ events: [FeedEvent])
    /// Releases revoked partitions, because none of their writes is in flight.
    func release()
}

/// Writes to Kafka: to the state topic and the lanes' topics.
struct KafkaFeedStore: FeedStore {
    let driver: SharedStateDriver
    let topics: IngestTopics
    /// The lane for events whose lane the settings no longer have.
    let defaultLane: String
    let log: Logger

    func store(_ write: WriteID, partition: Int32, _ records: [StateRecord]) {
        driver.write(
            records.map {
                ProducedRecord(topic: topics.state, partition: partition, key: Array($0.key.utf8), value: $0.value)
            }, as: WriteNumber.state(write).raw)
    }

    func publish(_ write: WriteID, lane: String, _ events: [FeedEvent]) {
        let topic = topics.topic(ofLane: lane, otherwise: defaultLane)
        if topics.lanes[lane] == nil {
            log.notice(
                "events of a lane that the settings no longer have go to the topic of another one",
                metadata: ["lane": "\(lane)", "topic": "\(topic)", "events": "\(events.count)"])
        }
        driver.write(events.map { topics.record($0, topic: topic) }, as: WriteNumber.events(write).raw)
    }

    func release() { driver.release() }
}

/// The meaning of a write's number at the driver. State and events of one write may have the same id.
enum WriteNumber: Hashable {
    case state(WriteID)
    case events(WriteID)
    /// Our own layout record, which distributes feeds over partitions.
    case layout

    /// No write has this number, because writes are counted from the start of the process.
    private static let layoutNumber: UInt64 = 1 << 52 - 1

    /// A number of at most 52 bits.
    var raw: UInt64 {
        switch self {
        case .state(let write): write.number << 1
        case .events(let write): write.number << 1 | 1
        case .layout: Self.layoutNumber
        }
    }

    init(raw: UInt64) {
        self =
            raw == Self.layoutNumber ? .layout : raw & 1 == 0 ? .state(WriteID(raw >> 1)) : .events(WriteID(raw >> 1))
    }
}

/// Stores nothing in Kafka and shows the events: `--dry-run`.
struct DryFeedStore: FeedStore {
    /// Called on the ingester's loop.
    let show: @Sendable (_ lane: String, FeedEvent) -> Void
    /// Hands in the answer, asynchronously.
    let hand: @Sendable (IngestInput) -> Void

    func store(_ write: WriteID, partition: Int32, _ records: [StateRecord]) {
        for record in records { hand(.record(partition: partition, offset: 0, key: record.key, value: record.value)) }
    }

    func publish(_ write: WriteID, lane: String, _ events: [FeedEvent]) {
        for event in events { show(lane, event) }
        hand(.published(write))
    }

    func release() {}
}
