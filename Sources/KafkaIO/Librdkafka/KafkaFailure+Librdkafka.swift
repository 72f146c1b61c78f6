import CRdkafka
import KafkaModel
import Logging
import NewsModel

/// librdkafka's errors as sentences with remedies.
extension KafkaFailure {
    /// Makes a failure of an error code, in our words. librdkafka's words go to the log, at the level debug.
    ///
    /// - Parameters:
    ///   - detail: the failure in a sentence of ours, if the code's words are not enough.
    ///   - action: what failed; the code's words follow it.
    ///   - text: librdkafka's words, if they say more than the code's own.
    init(
        _ error: rd_kafka_resp_err_t, detail: String? = nil, during action: String? = nil, text: String? = nil,
        fatal: Bool = false
    ) {
        let code = rd_kafka_err2name(error).map { String(cString: $0) } ?? String(error.rawValue)
        let own = rd_kafka_err2str(error).map { String(cString: $0) } ?? ""
        let text = text.flatMap { $0.isEmpty ? nil : $0 } ?? own
        Logger(label: "newswire").debug("librdkafka", metadata: ["code": "\(code)", "text": "\(text)"])
        if let failure = KafkaFailure(aboutToken: text) {
            self = failure
            return
        }
        let words = KafkaWords(code: code, text: text)
        self.init(
            code: code,
            // A fenced process was replaced by another one, so the broker accepts nothing from it.
            isFatal: fatal || error == RD_KAFKA_RESP_ERR__FATAL || error == RD_KAFKA_RESP_ERR__FENCED
                || error == RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID,
            isRetriable: !fatal && Self.retriable.contains(error.rawValue),
            detail: detail ?? action.map { "\($0): \(words.clause)" } ?? words.sentence,
            remedy: Self.remedy(for: error))
    }

    /// Makes a failure of an `rd_kafka_error_t` and destroys it.
    init(consuming error: OpaquePointer, during action: String) {
        defer { rd_kafka_error_destroy(error) }
        let text = rd_kafka_error_string(error).map { String(cString: $0) } ?? ""
        self.init(
            rd_kafka_error_code(error), during: action, text: text, fatal: rd_kafka_error_is_fatal(error) != 0)
    }

    /// Makes the failure of an error that came in place of a partition's records.
    init(reading partition: TopicPartition, _ message: UnsafePointer<rd_kafka_message_t>) {
        let text = rd_kafka_message_errstr(message).map { String(cString: $0) }
        self.init(message.pointee.err, during: "Reading \(partition) failed", text: text)
    }

    var isTimeout: Bool { ["_TIMED_OUT", "_TRANSPORT", "_TIMED_OUT_QUEUE", "REQUEST_TIMED_OUT"].contains(code) }

    private static let retriable: Set<Int32> = Set(
        [
            RD_KAFKA_RESP_ERR__TRANSPORT, RD_KAFKA_RESP_ERR__RESOLVE, RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN,
            RD_KAFKA_RESP_ERR__TIMED_OUT, RD_KAFKA_RESP_ERR__MSG_TIMED_OUT, RD_KAFKA_RESP_ERR__TIMED_OUT_QUEUE,
            RD_KAFKA_RESP_ERR__QUEUE_FULL, RD_KAFKA_RESP_ERR__WAIT_COORD, RD_KAFKA_RESP_ERR__IN_PROGRESS,
            RD_KAFKA_RESP_ERR__RETRY, RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE,
            RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION, RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT,
            RD_KAFKA_RESP_ERR_BROKER_NOT_AVAILABLE, RD_KAFKA_RESP_ERR_NETWORK_EXCEPTION,
            RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS, RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE,
            RD_KAFKA_RESP_ERR_NOT_COORDINATOR, RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS,
            RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS_AFTER_APPEND, RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS,
            RD_KAFKA_RESP_ERR_KAFKA_STORAGE_ERROR, RD_KAFKA_RESP_ERR_THROTTLING_QUOTA_EXCEEDED,
        ].map(\.rawValue))

    private static func remedy(for error: rd_kafka_resp_err_t) -> String {
        switch error {
        case RD_KAFKA_RESP_ERR__TRANSPORT, RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN, RD_KAFKA_RESP_ERR__RESOLVE:
            "Check kafka.bootstrapServers, the network and that the brokers run."
        case RD_KAFKA_RESP_ERR__TIMED_OUT, RD_KAFKA_RESP_ERR__MSG_TIMED_OUT, RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT:
            "Check that the brokers are reachable under the names they advertise, and not overloaded."
        case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
            "Create the topic (newswire topics --create) or correct its name."
        case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION, RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE:
            "Check that the topic exists (newswire topics) and that the brokers of its replicas run."
        case RD_KAFKA_RESP_ERR__AUTHENTICATION, RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED,
            RD_KAFKA_RESP_ERR_UNSUPPORTED_SASL_MECHANISM:
            "Check sasl.mechanisms, sasl.username and sasl.password, and security.protocol."
        case RD_KAFKA_RESP_ERR__SSL:
            "Check security.protocol, ssl.ca.location and the broker's certificate and host name."
        case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
            "Grant this user READ, WRITE and DESCRIBE on the topic."
        case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
            "Grant this user READ on the consumer group (kafka.group and a lane's name, joined by a dot)."
        case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
            "Grant this user WRITE on the topics that it writes, and before Kafka 2.8 IDEMPOTENT_WRITE on the cluster."
        case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
            "Raise max.message.bytes of the topic."
        case RD_KAFKA_RESP_ERR__FENCED, RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID:
            "Another process uses the same kafka.instance: give each its own."
        case RD_KAFKA_RESP_ERR__MAX_POLL_EXCEEDED:
            "The process was held up too long: look for a starved machine, or raise max.poll.interval.ms."
        case RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS, RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS_AFTER_APPEND:
            "Fewer replicas are in sync than min.insync.replicas asks for: look at the brokers."
        default: ""
        }
    }
}
