import KafkaModel
import Testing

struct KafkaWordsTests {
    @Test(arguments: [
        (
            "_TRANSPORT",
            "127.0.0.1:1/bootstrap: Connect to ipv4#127.0.0.1:1 failed: Connection refused (after 0ms in state CONNECT)",
            "the broker 127.0.0.1:1 cannot be reached: connection refused"
        ),
        (
            "_RESOLVE",
            "sasl_ssl://kafka-1:9093/7: Failed to resolve 'kafka-1:9093': Name or service not known (after 3ms)",
            "the broker kafka-1:9093 cannot be reached: no such host name"
        ),
        (
            "_TRANSPORT",
            "[::1]:9092/bootstrap: Disconnected while requesting ApiVersion: might be caused by incorrect "
                + "security.protocol configuration (connecting to a SSL listener?) or broker version is < 0.10",
            "the broker [::1]:9092 cannot be reached: it closes the connection, as if it expected TLS or a login"
        ),
        (
            "_AUTHENTICATION",
            "sasl_plaintext://b:1/bootstrap: SASL authentication error: Authentication failed during authentication due "
                + "to invalid credentials with SASL mechanism PLAIN (after 301ms in state AUTH_REQ)",
            "the broker b:1 refuses the login: wrong user or password"
        ),
        (
            "_SSL", "ssl://b:1/bootstrap: SSL handshake failed: error:0A000086:SSL routines::certificate verify failed",
            "TLS with the broker b:1 failed: its certificate is not trusted"
        ),
        ("_ALL_BROKERS_DOWN", "3/3 brokers are down", "no broker can be reached"),
        ("_TRANSPORT", "", "the broker cannot be reached"),
        ("_TRANSPORT", "/bootstrap: x", "the broker cannot be reached"),
        ("UNKNOWN_TOPIC_OR_PART", "Broker: Unknown topic or partition", "the topic does not exist"),
        (
            "_UNKNOWN_PARTITION", "Local: Unknown partition",
            "the partition does not exist, or the broker that leads it is down"
        ),
        ("POLICY_VIOLATION", "Broker: Policy violation", "Kafka reports: Policy violation"),
        ("", "", "Kafka reports an error without a text"),
    ])
    func `an error of librdkafka is told in our words`(code: String, text: String, clause: String) {
        let words = KafkaWords(code: code, text: text)
        #expect(words.clause == clause)
        #expect(words.sentence.lowercased() == clause.lowercased())
    }

    @Test func `a failure is a sentence and its remedy, without the library's name for it`() {
        let failure = KafkaFailure(code: "_TRANSPORT", detail: "It is away", remedy: "Wait.")
        #expect("\(failure)" == "It is away. Wait.")
        #expect("\(KafkaFailure(code: "_TRANSPORT", detail: "It is away"))" == "It is away")
    }
}
