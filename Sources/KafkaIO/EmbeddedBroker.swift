import CRdkafka
public import KafkaModel

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

    package var pointer: OpaquePointer? { OpaquePointer(bitPattern: cluster) }

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
            throw KafkaFailure(error, during: "The embedded broker refused topic \(topic)")
        }
    }

    /// Disables Nagle's algorithm, which the cluster leaves on. Otherwise, an answer would wait up to 60 ms until the previous
    /// one is acknowledged.
    package func answerAtOnce() {
        for port in ports { ListeningSocket(port: port)?.disableNagle() }
    }

    /// The ports of `bootstrapServers`.
    package var ports: [UInt16] {
        bootstrapServers.compactMap { $0.split(separator: ":").last.flatMap { UInt16($0) } }
    }
}
