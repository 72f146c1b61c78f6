import CRdkafka
import Foundation
package import KafkaIO
import KafkaModel
package import NewsModel
import Synchronization

/// Faults of the embedded broker.
extension EmbeddedBroker {
    /// Drops all connections and refuses new ones.
    package func setDown() {
        rd_kafka_mock_broker_set_down(pointer, 1)
        // The broker has closed its socket. Without a placeholder, a test beside this one could be given the port, and the
        // broker, which insists on its port, would abort the process.
        keepPort()
    }

    /// Keeps the port of a broker that is down. A client of the broker that connects again and again can be given this port as its
    /// own, and is then connected with itself until it has read what it sent. So this tries for two seconds.
    private func keepPort() {
        guard let port = ports.first else { return }
        for _ in 0..<2_000 {
            placeholders.withLock { if $0[port] == nil { $0[port] = boundSocket(port: port) } }
            if placeholders.withLock({ $0[port] != nil }) { return }
            usleep(1_000)
        }
    }

    package func setUp() {
        keepPort()
        rd_kafka_mock_broker_set_up(pointer, 1)
        answerAtOnce()
        guard let port = ports.first else { return }
        if let placeholder = placeholders.withLock({ $0.removeValue(forKey: port) }) { close(placeholder) }
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
        case notEnoughReplicas = 19
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

/// A socket for the port of each broker that is down. It does not listen, so clients are refused. The broker can bind the port
/// beside it, because both allow the reuse of the address.
private let placeholders = Mutex<[UInt16: Int32]>([:])

/// - Returns: the descriptor, or `nil` if the port is taken.
private func boundSocket(port: UInt16) -> Int32? {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { return nil }
    var on: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout.size(ofValue: on)))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
    let error = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
    }
    if error == 0 { return descriptor }
    close(descriptor)
    return nil
}
