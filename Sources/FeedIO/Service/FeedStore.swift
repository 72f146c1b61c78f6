import Feeds
import KafkaIO
import KafkaModel
import NewsModel

/// Where an ingester's writes go. Its answers come back as inputs.
protocol FeedStore: Sendable {
    func store(_ write: WriteID, partition: Int32, _ records: [StateRecord])
    func publish(_ write: WriteID, lane: String, _ events: [FeedEvent])
    /// Nothing of what was revoked is under way any more.
    func release()
}

/// Kafka: the state topic and the lanes' topics.
struct KafkaFeedStore: FeedStore {
    let driver: SharedStateDriver
    let topics: IngestTopics

    func store(_ write: WriteID, partition: Int32, _ records: [StateRecord]) {
        driver.write(
            records.map {
                ProducedRecord(topic: topics.state, partition: partition, key: Array($0.key.utf8), value: $0.value)
            }, as: WriteNumber.state(write).raw)
    }

    func publish(_ write: WriteID, lane: String, _ events: [FeedEvent]) {
        let topic = topics.lanes[lane] ?? ""
        driver.write(events.map { topics.record($0, topic: topic) }, as: WriteNumber.events(write).raw)
    }

    func release() { driver.release() }
}

/// What a write's number at the driver stands for. State and events of one write may have the same id.
enum WriteNumber: Hashable {
    case state(WriteID)
    case events(WriteID)
    /// Ours: how feeds are shared out.
    case layout

    /// No write has it: they are counted from the start of the process.
    private static let layoutNumber: UInt64 = 1 << 52 - 1

    /// At most 52 bits.
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

/// Keeps what is written, and shows it: `--dry-run`.
struct DryFeedStore: FeedStore {
    /// Called on the ingester's loop.
    let show: @Sendable (_ lane: String, FeedEvent) -> Void
    /// Hands the answer in, later.
    let hand: @Sendable (IngestInput) -> Void

    func store(_ write: WriteID, partition: Int32, _ records: [StateRecord]) {
        for record in records { hand(.record(partition: partition, key: record.key, value: record.value)) }
    }

    func publish(_ write: WriteID, lane: String, _ events: [FeedEvent]) {
        for event in events { show(lane, event) }
        hand(.published(write))
    }

    func release() {}
}
