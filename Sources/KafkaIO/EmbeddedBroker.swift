import CRdkafka
public import KafkaModel
public import NewsModel

/// A Kafka broker inside this process, for the demo and for tests. Uses librdkafka's mock cluster.
///
/// It keeps about 5 MiB per partition, dropping the oldest records first. All records are lost when it ends. The first join of a
/// group takes 3 seconds.
public final class EmbeddedBroker: Sendable {
    private let client: RdClient
    /// Address of the cluster, valid as long as `client`.
    private let cluster: UInt
    /// The addresses for clients.
    public let bootstrapServers: [String]

    /// - Parameter topics: names and partition counts.
    public init(topics: [(String, Int)]) throws(KafkaFailure) {
        let configuration = rd_kafka_conf_new()
        rd_kafka_conf_set(configuration, "log_level", "0", nil, 0)
        guard let handle = rd_kafka_new(RD_KAFKA_PRODUCER, configuration, nil, 0) else {
            rd_kafka_conf_destroy(configuration)
            throw KafkaFailure(code: "_STATE", detail: "The embedded broker could not start")
        }
        client = RdClient(handle)
        guard let cluster = rd_kafka_mock_cluster_new(client.handle, 1),
            let servers = rd_kafka_mock_cluster_bootstraps(cluster)
        else { throw KafkaFailure(code: "_STATE", detail: "The embedded broker found no port to listen on") }
        self.cluster = UInt(bitPattern: cluster)
        bootstrapServers = String(cString: servers).split(separator: ",").map(String.init)
        answerAtOnce()
        for (name, partitions) in topics { try create(topic: name, partitions: partitions) }
    }

    deinit { rd_kafka_mock_cluster_destroy(OpaquePointer(bitPattern: cluster)) }

    private var pointer: OpaquePointer? { OpaquePointer(bitPattern: cluster) }

    /// Returns settings for this broker, which delays an empty fetch for its whole waiting time even if a record arrives.
    public func settings(group: String) -> KafkaSettings {
        KafkaSettings(
            bootstrapServers: bootstrapServers, group: group,
            properties: [
                "fetch.wait.max.ms": "10", "session.timeout.ms": "6000", "heartbeat.interval.ms": "500",
            ])
    }

    public func create(topic: String, partitions: Int) throws(KafkaFailure) {
        let error = rd_kafka_mock_topic_create(pointer, topic, Int32(clamping: partitions), 1)
        if error != RD_KAFKA_RESP_ERR_NO_ERROR {
            throw KafkaFailure(error, detail: "The embedded broker refused topic \(topic)")
        }
    }

    /// Drops all connections and refuses new ones.
    public func setDown() { rd_kafka_mock_broker_set_down(pointer, 1) }

    public func setUp() {
        rd_kafka_mock_broker_set_up(pointer, 1)
        answerAtOnce()
    }

    /// Disables Nagle's algorithm, which the cluster leaves on. Otherwise, an answer would wait up to 60 ms until the previous
    /// one is acknowledged.
    private func answerAtOnce() {
        for server in bootstrapServers {
            guard let port = server.split(separator: ":").last.flatMap({ UInt16($0) }) else { continue }
            ListeningSocket(port: port)?.disableNagle()
        }
    }

    /// Removes a partition's leader, so that the partition can be neither read nor written.
    public func takeOffline(_ partition: TopicPartition) { setLeader(of: partition, -1) }

    public func bringOnline(_ partition: TopicPartition) { setLeader(of: partition, 1) }

    private func setLeader(of partition: TopicPartition, _ broker: Int32) {
        rd_kafka_mock_partition_set_leader(pointer, partition.topic, partition.partition, broker)
    }

    /// A request of the Kafka protocol.
    public enum Request: Int16, Sendable {
        case produce = 0
        case fetch = 1
        case metadata = 3
        case offsetCommit = 8
        case offsetFetch = 9
        case heartbeat = 12
    }

    /// An error a broker can answer with.
    public enum Refusal: Int32, Sendable {
        case messageTooLarge = 10
        case topicAuthorizationFailed = 29
        case groupAuthorizationFailed = 30
    }

    /// Answers the next `count` requests of a kind with an error.
    ///
    /// - Parameter passing: number of requests of this kind that are served before these.
    public func failNext(_ request: Request, _ refusal: Refusal, count: Int = 1, after passing: Int = 0) {
        let errors =
            Array(repeating: RD_KAFKA_RESP_ERR_NO_ERROR, count: max(passing, 0))
            + Array(repeating: rd_kafka_resp_err_t(rawValue: refusal.rawValue), count: max(count, 0))
        rd_kafka_mock_push_request_errors_array(pointer, request.rawValue, errors.count, errors)
    }
}
