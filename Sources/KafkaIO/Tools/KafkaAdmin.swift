import CRdkafka
public import KafkaModel
public import NewsModel

/// Requests to a cluster, including the creation of topics. Every call blocks for at most its `timeout`. Call it from a thread
/// that may block, never from an event loop.
public final class KafkaAdmin: Sendable {
    private let settings: KafkaSettings
    let timeout: Int32
    let client: RdClient

    /// The offset that counts as the end of a partition.
    public enum End: Sendable {
        /// The end of all stored records, including those in open transactions.
        case highWatermark
        /// The end of all committed records, which is before the first open transaction.
        case lastStable
    }

    /// Creates a client. It connects on the first request.
    public init(
        settings: KafkaSettings, timeout: Duration = .seconds(10), end: End = .highWatermark
    ) throws(KafkaFailure) {
        self.settings = settings
        self.timeout = Int32(clamping: timeout.nanoseconds / 1_000_000)
        let isolation = end == .highWatermark ? "read_uncommitted" : "read_committed"
        let configuration = try RdConfiguration(
            settings: settings, fixed: [("log.queue", "true"), ("isolation.level", isolation)])
        configuration.setEvents(RD_KAFKA_EVENT_ERROR | RD_KAFKA_EVENT_LOG)
        client = try configuration.makeClient(RD_KAFKA_PRODUCER)
        client.takeLogs()
    }

    /// Returns the partition counts of those topics that exist.
    public func partitionCounts(of topics: [String]) throws(KafkaFailure) -> [String: Int] {
        let all = try partitionCounts()
        return all.filter { topics.contains($0.key) }
    }

    /// Returns the cluster's own name; `nil` if it has no name or does not answer.
    public func clusterID() -> String? {
        guard let id = rd_kafka_clusterid(client.handle, timeout) else { return nil }
        defer { rd_kafka_mem_free(client.handle, id) }
        return String(cString: id)
    }

    /// Returns the partition counts of all topics that this user may see.
    public func partitionCounts() throws(KafkaFailure) -> [String: Int] {
        try clusterView().topics.mapValues(\.partitions)
    }

    /// The cluster as seen by one of its brokers.
    struct ClusterView {
        var brokers: Set<Int32>
        var topics: [String: Topic] = [:]

        struct Topic {
            var partitions: Int
            /// Number of partitions with a leader.
            var led: Int
        }
    }

    /// Requests all topics, because a request for one by name would create it on many brokers.
    func clusterView() throws(KafkaFailure) -> ClusterView {
        var metadata: UnsafePointer<rd_kafka_metadata>?
        let error = rd_kafka_metadata(client.handle, 1, nil, &metadata, timeout)
        guard error == RD_KAFKA_RESP_ERR_NO_ERROR, let metadata else {
            throw client.explained(error)
        }
        defer { rd_kafka_metadata_destroy(metadata) }
        let brokers = UnsafeBufferPointer(start: metadata.pointee.brokers, count: Int(metadata.pointee.broker_cnt))
        var view = ClusterView(brokers: Set(brokers.map(\.id)))
        for topic in UnsafeBufferPointer(start: metadata.pointee.topics, count: Int(metadata.pointee.topic_cnt))
        where topic.err == RD_KAFKA_RESP_ERR_NO_ERROR {
            let partitions = UnsafeBufferPointer(start: topic.partitions, count: Int(topic.partition_cnt))
            view.topics[String(cString: topic.topic)] = ClusterView.Topic(
                partitions: partitions.count, led: partitions.count { $0.leader >= 0 })
        }
        return view
    }

    /// Returns the reason why an existing topic is hidden from this user; `nil` if it does not exist or the broker does not say.
    public func refusal(of topic: String) throws(KafkaFailure) -> KafkaFailure? {
        // For users who may read settings, this detects a missing topic without creating it.
        guard case .unreadable(Self.refused)? = try configurations(of: [topic])[topic] else { return nil }
        let consumer = try AssignedConsumer(settings, group: settings.group, partitions: 1, timeout: timeout)
        guard let failure = try consumer.failure(of: topic), failure.code == Self.refused else { return nil }
        return failure
    }

    private static let refused = "TOPIC_AUTHORIZATION_FAILED"

    /// Returns the first offset kept and the end.
    public func watermarks(_ partition: TopicPartition) throws(KafkaFailure) -> Range<Int64> {
        try client.watermarks(partition, milliseconds: timeout)
    }

    /// Returns the present ends of a topic's partitions. Partitions whose leaders do not answer within a second are absent.
    public func ends(of topic: String) throws(KafkaFailure) -> [Int32: Int64] {
        guard let described = try client.topics(timeout: timeout)[topic] else { return [:] }
        var ends: [Int32: Int64] = [:]
        let led = Dictionary(grouping: (0..<Int32(clamping: described.count))) { described.leader(of: $0) }
        // Grouped by leader, so that an unresponsive leader costs one timeout for all its partitions.
        for (leader, partitions) in led where leader != nil {
            let asked = partitions.map { TopicPartition(topic: topic, partition: $0) }
            guard let ranges = try? client.ranges(asked, milliseconds: 1_000) else { continue }
            for (partition, range) in ranges { ends[partition.partition] = range.upperBound }
        }
        return ends
    }

    /// Returns a consumer group's committed offsets. Partitions without one are absent. `group` is the full name, e.g.
    /// `newswire.backfill`.
    public func committed(
        group: String, _ partitions: [TopicPartition]
    ) throws(KafkaFailure) -> [TopicPartition: Int64] {
        let consumer = try AssignedConsumer(settings, group: group, partitions: partitions.count, timeout: timeout)
        return try consumer.committed(partitions)
    }
}
