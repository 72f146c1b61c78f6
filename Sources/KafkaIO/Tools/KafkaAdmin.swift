import CRdkafka
public import KafkaModel
public import NewsModel

/// Questions to a cluster, and the creation of topics. Every call blocks, for at most its `timeout`: call it from a
/// thread that may wait, never from an event loop.
public final class KafkaAdmin: Sendable {
    private let settings: KafkaSettings
    let timeout: Int32
    let client: RdClient

    /// The offset that counts as the end of a partition.
    public enum End: Sendable {
        /// Of all that is stored, also behind an open transaction.
        case highWatermark
        /// Of all that a reader of committed records gets: it ends at the first open transaction.
        case lastStable
    }

    /// Connects when first asked something.
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

    /// The partition counts of those of the topics that exist.
    public func partitionCounts(of topics: [String]) throws(KafkaFailure) -> [String: Int] {
        let all = try partitionCounts()
        return all.filter { topics.contains($0.key) }
    }

    /// The name that the cluster has given itself; `nil` if it has none or does not answer.
    public func clusterID() -> String? {
        guard let id = rd_kafka_clusterid(client.handle, timeout) else { return nil }
        defer { rd_kafka_mem_free(client.handle, id) }
        return String(cString: id)
    }

    /// Every topic this user may see, with its partition count.
    public func partitionCounts() throws(KafkaFailure) -> [String: Int] {
        try clusterView().topics.mapValues(\.partitions)
    }

    /// The cluster as one of its brokers sees it.
    struct ClusterView {
        var brokers: Set<Int32>
        var topics: [String: Topic] = [:]

        struct Topic {
            var partitions: Int
            /// Partitions that have a leader.
            var led: Int
        }
    }

    /// Asks for all topics: asking for one by name would create it on many brokers.
    func clusterView() throws(KafkaFailure) -> ClusterView {
        var metadata: UnsafePointer<rd_kafka_metadata>?
        let error = rd_kafka_metadata(client.handle, 1, nil, &metadata, timeout)
        guard error == RD_KAFKA_RESP_ERR_NO_ERROR, let metadata else {
            throw client.explained(error, detail: "The cluster's topics could not be read")
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

    /// Why this user is not shown a topic that may well be there; `nil` if there is none, or if the broker does not tell.
    public func refusal(of topic: String) throws(KafkaFailure) -> KafkaFailure? {
        // Whoever may ask for settings learns of a missing topic here, and creates none by asking.
        guard case .unreadable(Self.refused)? = try configurations(of: [topic])[topic] else { return nil }
        let consumer = try AssignedConsumer(settings, group: settings.group, partitions: 1, timeout: timeout)
        guard let failure = try consumer.failure(of: topic), failure.code == Self.refused else { return nil }
        return failure
    }

    private static let refused = "TOPIC_AUTHORIZATION_FAILED"

    /// The first offset kept, and the end.
    public func watermarks(_ partition: TopicPartition) throws(KafkaFailure) -> Range<Int64> {
        try client.watermarks(partition, milliseconds: timeout)
    }

    /// The ends of a topic's partitions as they are now; those whose leader does not answer within a second are absent.
    public func ends(of topic: String) throws(KafkaFailure) -> [Int32: Int64] {
        guard let described = try client.topics(timeout: timeout)[topic] else { return [:] }
        var ends: [Int32: Int64] = [:]
        let led = Dictionary(grouping: (0..<Int32(clamping: described.count))) { described.leader(of: $0) }
        // By leader: one that does not answer costs one time-out, whatever it leads.
        for (leader, partitions) in led where leader != nil {
            let asked = partitions.map { TopicPartition(topic: topic, partition: $0) }
            guard let ranges = try? client.ranges(asked, milliseconds: 1_000) else { continue }
            for (partition, range) in ranges { ends[partition.partition] = range.upperBound }
        }
        return ends
    }

    /// A consumer group's committed offsets; partitions without one are absent. `group` is the whole name, e.g.
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
