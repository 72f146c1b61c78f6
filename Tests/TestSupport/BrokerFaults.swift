import CRdkafka
package import KafkaIO
import KafkaModel
package import NewsModel

/// Faults of the embedded broker.
extension EmbeddedBroker {
    /// Drops all connections and refuses new ones.
    package func setDown() { rd_kafka_mock_broker_set_down(pointer, 1) }

    package func setUp() {
        rd_kafka_mock_broker_set_up(pointer, 1)
        answerAtOnce()
    }

    /// Removes a partition's leader, so that the partition can be neither read nor written.
    package func takeOffline(_ partition: TopicPartition) { setLeader(of: partition, -1) }

    package func bringOnline(_ partition: TopicPartition) { setLeader(of: partition, 1) }

    private func setLeader(of partition: TopicPartition, _ broker: Int32) {
        rd_kafka_mock_partition_set_leader(pointer, partition.topic, partition.partition, broker)
    }

    /// A request of the Kafka protocol.
    package enum Request: Int16, Sendable {
        case produce = 0
        case fetch = 1
        case metadata = 3
        case offsetCommit = 8
        case offsetFetch = 9
        case heartbeat = 12
    }

    /// An error a broker can answer with.
    package enum Refusal: Int32, Sendable {
        case messageTooLarge = 10
        case topicAuthorizationFailed = 29
        case groupAuthorizationFailed = 30
    }

    /// Answers the next `count` requests of a kind with an error.
    ///
    /// - Parameter passing: number of requests of this kind that are served before these.
    package func failNext(_ request: Request, _ refusal: Refusal, count: Int = 1, after passing: Int = 0) {
        let errors =
            Array(repeating: RD_KAFKA_RESP_ERR_NO_ERROR, count: max(passing, 0))
            + Array(repeating: rd_kafka_resp_err_t(rawValue: refusal.rawValue), count: max(count, 0))
        rd_kafka_mock_push_request_errors_array(pointer, request.rawValue, errors.count, errors)
    }

    /// Serves requests of a kind again, although fewer than `count` of `failNext` were answered with an error.
    package func serve(_ request: Request) { rd_kafka_mock_clear_request_errors(pointer, request.rawValue) }
}
