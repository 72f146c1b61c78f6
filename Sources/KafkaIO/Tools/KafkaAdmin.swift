import CRdkafka
public import KafkaModel
public import NewsModel

/// Questions to a cluster, and the making of topics. Every call blocks, for at most its `timeout`: call it from a
/// thread that may wait, never from an event loop.
public final class KafkaAdmin: Sendable {
    private let settings: KafkaSettings
    private let timeout: Int32
    private let client: RdClient

    /// Connects when first asked something.
    public init(settings: KafkaSettings, timeout: Duration = .seconds(10)) throws(KafkaFailure) {
        self.settings = settings
        self.timeout = Int32(clamping: timeout.nanoseconds / 1_000_000)
        let configuration = try RdConfiguration(settings: settings, fixed: [("log.queue", "true")])
        configuration.setEvents(RD_KAFKA_EVENT_ERROR | RD_KAFKA_EVENT_LOG)
        client = try configuration.makeClient(RD_KAFKA_PRODUCER)
        client.takeLogs()
    }

    /// A topic to create.
    public struct NewTopic: Sendable, Hashable {
        public var name: String
        public var partitions: Int
        /// `nil`: the broker's default.
        public var replication: Int?
        /// Topic settings such as `retention.ms`.
        public var configuration: [String: String]

        public init(name: String, partitions: Int, replication: Int? = nil, configuration: [String: String] = [:]) {
            self.name = name
            self.partitions = partitions
            self.replication = replication
            self.configuration = configuration
        }
    }

    /// The partition counts of those of the topics that exist.
    public func partitionCounts(of topics: [String]) throws(KafkaFailure) -> [String: Int] {
        let all = try partitionCounts()
        return all.filter { topics.contains($0.key) }
    }

    /// Every topic this user may see, with its partition count.
    ///
    /// Asks for all topics: asking for one by name would create it on many brokers.
    public func partitionCounts() throws(KafkaFailure) -> [String: Int] {
        var metadata: UnsafePointer<rd_kafka_metadata>?
        let error = rd_kafka_metadata(client.handle, 1, nil, &metadata, timeout)
        guard error == RD_KAFKA_RESP_ERR_NO_ERROR, let metadata else {
            throw client.explained(error, detail: "The cluster's topics could not be read")
        }
        defer { rd_kafka_metadata_destroy(metadata) }
        var counts: [String: Int] = [:]
        for topic in UnsafeBufferPointer(start: metadata.pointee.topics, count: Int(metadata.pointee.topic_cnt))
        where topic.err == RD_KAFKA_RESP_ERR_NO_ERROR {
            counts[String(cString: topic.topic)] = Int(topic.partition_cnt)
        }
        return counts
    }

    /// Creates topics. A topic that exists already is no failure; whatever it looks like, it stays as it is.
    public func create(_ topics: [NewTopic]) throws(KafkaFailure) {
        var made: [OpaquePointer?] = []
        defer { made.forEach { rd_kafka_NewTopic_destroy($0) } }
        for topic in topics {
            var text = [CChar](repeating: 0, count: 256)
            guard
                let new = rd_kafka_NewTopic_new(
                    topic.name, Int32(clamping: topic.partitions), Int32(clamping: topic.replication ?? -1), &text,
                    text.count)
            else { throw .configuration("Topic \(topic.name) cannot be asked for", remedy: String(rd: text)) }
            made.append(new)
            for (name, value) in topic.configuration.sorted(by: { $0.key < $1.key }) {
                rd_kafka_NewTopic_set_config(new, name, value)
            }
        }
        guard !made.isEmpty, let answers = rd_kafka_queue_new(client.handle) else { return }
        defer { rd_kafka_queue_destroy(answers) }
        let options = rd_kafka_AdminOptions_new(client.handle, RD_KAFKA_ADMIN_OP_CREATETOPICS)
        defer { rd_kafka_AdminOptions_destroy(options) }
        rd_kafka_AdminOptions_set_request_timeout(options, timeout, nil, 0)
        // Until the topics can be used, not only until they are promised.
        rd_kafka_AdminOptions_set_operation_timeout(options, timeout, nil, 0)
        rd_kafka_CreateTopics(client.handle, &made, made.count, options, answers)
        guard let event = rd_kafka_queue_poll(answers, timeout + 1_000) else {
            throw client.explained(RD_KAFKA_RESP_ERR__TIMED_OUT, detail: "The topics were not created in time")
        }
        defer { rd_kafka_event_destroy(event) }
        let error = rd_kafka_event_error(event)
        if error != RD_KAFKA_RESP_ERR_NO_ERROR { throw client.explained(error, detail: "The topics were not created") }
        var count = 0
        let results = rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event), &count)
        for result in UnsafeBufferPointer(start: results, count: count) {
            let error = rd_kafka_topic_result_error(result)
            if error == RD_KAFKA_RESP_ERR_NO_ERROR || error == RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS { continue }
            let name = rd_kafka_topic_result_name(result).map { String(cString: $0) } ?? ""
            let text = rd_kafka_topic_result_error_string(result).map { String(cString: $0) } ?? ""
            throw KafkaFailure(error, detail: "Topic \(name) was not created: \(text)")
        }
    }

    /// The first offset kept, and the one after the last.
    public func watermarks(_ partition: TopicPartition) throws(KafkaFailure) -> Range<Int64> {
        var low: Int64 = 0
        var high: Int64 = 0
        let error = rd_kafka_query_watermark_offsets(
            client.handle, partition.topic, partition.partition, &low, &high, timeout)
        if error != RD_KAFKA_RESP_ERR_NO_ERROR {
            throw client.explained(error, detail: "The offsets of \(partition) could not be read")
        }
        return low..<max(low, high)
    }

    /// What a consumer group committed; partitions without a commit are absent. `group` is the whole name, e.g.
    /// `newswire.backfill`.
    public func committed(
        group: String, _ partitions: [TopicPartition]
    ) throws(KafkaFailure) -> [TopicPartition: Int64] {
        let consumer = try AssignedConsumer(settings, group: group, partitions: partitions.count, timeout: timeout)
        return try consumer.committed(partitions)
    }

    /// The first offset at or after a time; partitions with nothing as late are absent.
    public func offsets(
        for time: Instant, _ partitions: [TopicPartition]
    ) throws(KafkaFailure) -> [TopicPartition: Int64] {
        let consumer = try AssignedConsumer(
            settings, group: settings.group, partitions: partitions.count, timeout: timeout)
        return try consumer.offsets(for: time, partitions)
    }
}
