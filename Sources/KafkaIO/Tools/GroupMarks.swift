import CRdkafka
public import KafkaModel
public import NewsModel

/// The committed offsets of a group nobody joins, each with a note beside it: how far a tool got with a topic. Its
/// calls block.
public final class GroupMarks: Sendable {
    /// How far it got in one partition.
    public struct Mark: Sendable, Hashable {
        public var offset: Int64
        /// ASCII, at most 4,096 bytes with a broker's default settings. Some brokers keep none and return it empty.
        public var note: String

        public init(offset: Int64, note: String = "") {
            self.offset = offset
            self.note = note
        }
    }

    private let client: RdClient
    private let timeout: Int32

    /// - Parameter group: the whole name.
    public init(settings: KafkaSettings, group: String, timeout: Duration = .seconds(10)) throws(KafkaFailure) {
        self.timeout = Int32(clamping: timeout.nanoseconds / 1_000_000)
        let configuration = try RdConfiguration(
            settings: settings,
            fixed: [("group.id", group), ("enable.auto.commit", "false"), ("log.queue", "true")])
        configuration.setEvents(RD_KAFKA_EVENT_LOG | RD_KAFKA_EVENT_ERROR)
        client = try configuration.makeClient(RD_KAFKA_CONSUMER)
        client.takeLogs()
    }

    /// Partitions without a commit are absent.
    public func read(_ partitions: [TopicPartition]) throws(KafkaFailure) -> [TopicPartition: Mark] {
        let list = RdPartitionList(capacity: partitions.count)
        for partition in partitions { list.append(partition) }
        let error = list.withPointer { rd_kafka_committed(client.handle, $0, timeout) }
        if error != RD_KAFKA_RESP_ERR_NO_ERROR {
            throw client.explained(error, detail: "The group's committed offsets could not be read")
        }
        var marks: [TopicPartition: Mark] = [:]
        var refused: KafkaFailure?
        list.withPointer { list in
            for element in UnsafeBufferPointer(start: list.pointee.elems, count: Int(list.pointee.cnt)) {
                let read = RdPartitionList.element(element)
                if read.error != RD_KAFKA_RESP_ERR_NO_ERROR { refused = KafkaFailure(read.error) }
                guard read.offset >= 0 else { continue }
                let note = UnsafeRawBufferPointer(start: element.metadata, count: element.metadata_size)
                marks[read.partition] = Mark(offset: read.offset, note: String(decoding: note, as: UTF8.self))
            }
        }
        if let refused { throw refused }
        return marks
    }

    /// Returns once the broker has them.
    public func commit(_ marks: [TopicPartition: Mark]) throws(KafkaFailure) {
        let list = RdPartitionList(capacity: marks.count)
        for (partition, mark) in marks.sorted(by: { $0.key < $1.key }) {
            list.append(partition, mark.offset, note: mark.note)
        }
        let error = list.withPointer { rd_kafka_commit(client.handle, $0, 0) }
        if error != RD_KAFKA_RESP_ERR_NO_ERROR {
            throw client.explained(error, detail: "The offsets could not be committed")
        }
    }
}
