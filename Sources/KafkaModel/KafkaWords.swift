/// Our words for an error of librdkafka, as a clause in lower case without a full stop.
package struct KafkaWords: Sendable, Hashable {
    package let clause: String

    /// - Parameters:
    ///   - code: librdkafka's name of the error.
    ///   - text: librdkafka's words. Those about a connection begin with the broker's name.
    package init(code: String, text: String) {
        let broker = Self.broker(text).map { "the broker \($0)" } ?? "the broker"
        let cause = Self.cause(text).map { ": \($0)" } ?? ""
        clause =
            switch code {
            case "_TRANSPORT", "_RESOLVE", "NETWORK_EXCEPTION": "\(broker) cannot be reached\(cause)"
            case "_ALL_BROKERS_DOWN", "BROKER_NOT_AVAILABLE": "no broker can be reached"
            case "_SSL": "TLS with \(broker) failed\(cause)"
            case "_AUTHENTICATION", "SASL_AUTHENTICATION_FAILED", "UNSUPPORTED_SASL_MECHANISM",
                "ILLEGAL_SASL_STATE":
                "\(broker) refuses the login\(cause)"
            case "_TIMED_OUT", "_TIMED_OUT_QUEUE", "REQUEST_TIMED_OUT": "the brokers did not answer in time"
            case "_MSG_TIMED_OUT": "the brokers did not take it in time"
            case "UNKNOWN_TOPIC_OR_PART", "_UNKNOWN_TOPIC": "the topic does not exist"
            case "_UNKNOWN_PARTITION": "the partition does not exist, or the broker that leads it is down"
            case "TOPIC_AUTHORIZATION_FAILED": "this user may not use the topic"
            case "GROUP_AUTHORIZATION_FAILED": "this user may not use the consumer group"
            case "CLUSTER_AUTHORIZATION_FAILED": "this user may not do this on the cluster"
            case "MSG_SIZE_TOO_LARGE", "INVALID_MSG_SIZE": "it is too large for the topic"
            case "LEADER_NOT_AVAILABLE", "NOT_LEADER_FOR_PARTITION": "the partition has no leader at the moment"
            case "NOT_ENOUGH_REPLICAS", "NOT_ENOUGH_REPLICAS_AFTER_APPEND": "too few replicas are in sync"
            case "COORDINATOR_NOT_AVAILABLE", "COORDINATOR_LOAD_IN_PROGRESS", "NOT_COORDINATOR", "_WAIT_COORD":
                "the group's coordinator is not ready"
            case "REBALANCE_IN_PROGRESS", "ILLEGAL_GENERATION", "UNKNOWN_MEMBER_ID":
                "the group is rebalancing its partitions"
            case "_FENCED", "FENCED_INSTANCE_ID": "another process has taken the place of this one"
            case "_MAX_POLL_EXCEEDED": "the process did not ask for records in time"
            case "_PURGE_QUEUE", "_PURGE_INFLIGHT": "it was dropped before the broker confirmed it"
            case "_QUEUE_FULL": "too many records wait for the brokers"
            case "_UNSUPPORTED_FEATURE", "UNSUPPORTED_VERSION": "the broker does not offer this"
            default: Self.plain(text)
            }
    }

    /// The clause as the beginning of a sentence.
    package var sentence: String { clause.prefix(1).uppercased() + clause.dropFirst() }

    /// The broker of a text such as `sasl_ssl://kafka-1:9093/bootstrap: Disconnected`.
    private static func broker(_ text: String) -> String? {
        guard let slash = text.firstRange(of: "/bootstrap: ") ?? text.firstRange(of: #//[0-9]+: /#) else { return nil }
        let name = text[..<slash.lowerBound]
        let address = name.firstRange(of: "://").map { name[$0.upperBound...] } ?? name
        return address.isEmpty || address.contains(" ") ? nil : String(address)
    }

    private static let causes: [(part: String, clause: String)] = [
        ("connection refused", "connection refused"),
        ("no route to host", "there is no route to it"),
        ("unreachable", "there is no route to it"),
        ("name or service not known", "no such host name"),
        ("failed to resolve", "its host name has no address at the moment"),
        ("supported mechanisms", "it does not offer this mechanism"),
        ("invalid credentials", "wrong user or password"),
        ("authentication failed", "wrong user or password"),
        ("certificate verify failed", "its certificate is not trusted"),
        ("ssl listener", "it closes the connection, as if it expected TLS or a login"),
        ("sasl", "it closes the connection during the login"),
        ("timed out", "it does not answer"),
        ("disconnect", "it closes the connection"),
        ("connection reset", "it closes the connection"),
        ("closed by peer", "it closes the connection"),
    ]

    private static func cause(_ text: String) -> String? {
        let text = text.lowercased()
        return causes.first { text.contains($0.part) }?.clause
    }

    /// librdkafka's words without the part of it that found the error.
    private static func plain(_ text: String) -> String {
        let bare = ["Broker: ", "Local: "].first(where: text.hasPrefix).map { text.dropFirst($0.count) } ?? text[...]
        return bare.isEmpty ? "Kafka reports an error without a text" : "Kafka reports: \(bare)"
    }
}
