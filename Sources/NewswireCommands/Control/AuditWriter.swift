import ControlIO
import EditorialControl
import KafkaIO
import KafkaModel
import NewsModel
import NewswireSettings

/// Writes lines to the audit topic for commands that act without an order. Calls block.
struct AuditWriter {
    private let kafka: KafkaSettings
    private let topic: String

    /// Maximum wait for brokers that do not answer.
    static let patience = Duration.seconds(5)

    init(_ settings: Settings) {
        kafka = settings.kafkaSettings
        topic = settings.control.topics.audit
    }

    /// Writes the line. If the topic does not take it, a warning says that this was not recorded.
    ///
    /// - Parameter deed: what the line records, e.g. "this release".
    func note(_ entry: AuditEntry, _ deed: String) {
        do throws(KafkaFailure) { try store(entry) } catch {
            notice("warning: \(deed) is not recorded. \(error)")
        }
    }

    /// - Returns: the place of the line.
    @discardableResult
    func store(_ entry: AuditEntry) throws(KafkaFailure) -> ResultRecord.Source? {
        try store(entry.record(on: topic))
    }

    /// Stores a record on a topic that must exist.
    ///
    /// - Returns: its place.
    func store(_ record: ProducedRecord) throws(KafkaFailure) -> ResultRecord.Source? {
        let admin = try KafkaAdmin(settings: kafka, timeout: Self.patience)
        guard try admin.partitionCounts(of: [record.topic])[record.topic] != nil else {
            throw .missing(topic: record.topic)
        }
        let publisher = try RecordPublisher(settings: kafka)
        try publisher.publish(record, timeout: Self.patience)
        try publisher.flush(timeout: Self.patience)
        return publisher.lastStored.map { stored in
            ResultRecord.Source(
                partition: TopicPartition(topic: record.topic, partition: stored.partition), offset: stored.offset)
        }
    }
}
