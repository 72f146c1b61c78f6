import CRdkafka
public import KafkaModel
public import NewsModel

/// The committed offsets and metadata of a group without members: a tool's progress in a topic. Its calls block.
public final class GroupOffsets: Sendable {
    /// A committed position in one partition.
    public struct Position: Sendable, Hashable {
        public var offset: Int64
        /// ASCII, at most 4,096 bytes with a broker's default settings. Some brokers do not store it and return an empty text.
        public var metadata: String

        public init(offset: Int64, metadata: String = "") {
            self.offset = offset
            self.metadata = metadata
        }
    }

    private let client: RdClient
    private let timeout: Int32

    /// - Parameter group: the full name of the group.
    public init(settings: KafkaSettings, group: String, timeout: Duration = .seconds(10)) throws(KafkaFailure) {
        self.timeout = Int32(clamping: timeout.nanoseconds / 1_000_000)
        let configuration = try RdConfiguration(
            settings: settings,
            fixed: [("group.id", group), ("enable.auto.commit", "false"), ("log.queue", "true")])
        configuration.setEvents(RD_KAFKA_EVENT_LOG | RD_KAFKA_EVENT_ERROR)
        client = try configuration.makeClient(RD_KAFKA_CONSUMER)
        client.takeLogs()
    }

    /// Returns the committed positions. Partitions without a commit are absent.
    public func read(_ partitions: [TopicPartition]) throws(KafkaFailure) -> [TopicPartition: Position] {
        let list = RdPartitionList(capacity: partitions.count)
        for partition in partitions { list.append(partition) }
        let error = list.withPointer { rd_kafka_committed(client.handle, $0, timeout) }
        if error != RD_KAFKA_RESP_ERR_NO_ERROR {
            throw client.explained(error, during: "The group's committed offsets could not be read")
        }
        var positions: [TopicPartition: Position] = [:]
        for element in list.elements {
            guard element.error == RD_KAFKA_RESP_ERR_NO_ERROR else { throw KafkaFailure(element.error) }
            guard element.offset >= 0 else { continue }
            positions[element.partition] = Position(offset: element.offset, metadata: element.metadata)
        }
        return positions
    }

    /// Commits positions. Returns once the broker has stored them.
    public func commit(_ positions: [TopicPartition: Position]) throws(KafkaFailure) {
        let list = RdPartitionList(capacity: positions.count)
        for (partition, position) in positions.sorted(by: { $0.key < $1.key }) {
            list.append(partition, position.offset, metadata: position.metadata)
        }
        let error = list.withPointer { rd_kafka_commit(client.handle, $0, 0) }
        if error != RD_KAFKA_RESP_ERR_NO_ERROR {
            throw client.explained(error, during: "The offsets could not be committed")
        }
    }
}
