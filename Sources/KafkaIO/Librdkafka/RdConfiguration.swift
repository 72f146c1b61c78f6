import CRdkafka
import KafkaModel

/// A librdkafka configuration being built.
final class RdConfiguration {
    private let handle: OpaquePointer = rd_kafka_conf_new()
    private let login: KafkaLogin

    /// The user's properties override `defaults`, but not `fixed`.
    init(settings: KafkaSettings, defaults: [(String, String)] = [], fixed: [(String, String)]) throws(KafkaFailure) {
        login = settings.login
        if let refused = settings.refusedProperties.first { throw refused }
        guard !settings.bootstrapServers.isEmpty else {
            throw .configuration("kafka.bootstrapServers is empty", remedy: "Name at least one broker as host:port.")
        }
        try set("bootstrap.servers", settings.bootstrapServers.joined(separator: ","))
        for (name, value) in Self.common + defaults where settings.properties[name] == nil {
            try set(name, value, ifKnown: true)
        }
        for (name, value) in settings.properties.sorted(by: { $0.key < $1.key }) {
            try set(name, value)
        }
        for (name, value) in fixed { try set(name, value) }
    }

    deinit { rd_kafka_conf_destroy(handle) }

    // Without Nagle's algorithm, a record does not wait for a full packet.
    private static let common = [
        ("client.id", "newswire"), ("socket.nagle.disable", "true"), ("log_level", "4"),
        ("log.connection.close", "false"), ("reconnect.backoff.max.ms", "5000"),
        // Growing topics are noticed within seconds.
        ("topic.metadata.refresh.interval.ms", "10000"),
        // No request may create a topic with the broker's default size.
        ("allow.auto.create.topics", "false"),
    ]

    func setEvents(_ events: Int32) { rd_kafka_conf_set_events(handle, events) }

    func makeClient(_ type: rd_kafka_type_t) throws(KafkaFailure) -> RdClient {
        try login.prepare()
        // rd_kafka_new takes ownership of the configuration only on success, so it gets a copy.
        let copy = rd_kafka_conf_dup(handle)
        var text = [CChar](repeating: 0, count: 512)
        guard let handle = rd_kafka_new(type, copy, &text, text.count) else {
            rd_kafka_conf_destroy(copy)
            throw .configuration(
                "Kafka client refused: \(String(rd: text))", remedy: "Correct kafka.properties.")
        }
        let client = RdClient(handle)
        login.add(client)
        return client
    }

    /// Returns librdkafka's objection to a single property; `nil` if it accepts it. Other properties may still conflict.
    static func refusal(_ name: String, _ value: String) -> KafkaFailure? {
        var text = [CChar](repeating: 0, count: 512)
        let trial: OpaquePointer = rd_kafka_conf_new()
        defer { rd_kafka_conf_destroy(trial) }
        let result = rd_kafka_conf_set(trial, name, value, &text, text.count)
        return result == RD_KAFKA_CONF_OK ? nil : failure(name, result, text)
    }

    /// `ifKnown`: true ignores names that older libraries do not know.
    private func set(_ name: String, _ value: String, ifKnown: Bool = false) throws(KafkaFailure) {
        var text = [CChar](repeating: 0, count: 512)
        let result = rd_kafka_conf_set(handle, name, value, &text, text.count)
        switch result {
        case RD_KAFKA_CONF_OK: return
        case RD_KAFKA_CONF_UNKNOWN where ifKnown: return
        default: throw Self.failure(name, result, text)
        }
    }

    private static func failure(_ name: String, _ result: rd_kafka_conf_res_t, _ text: [CChar]) -> KafkaFailure {
        // librdkafka's text repeats a refused value, which may be a secret, even if it was meant for another property.
        .configuration(
            result == RD_KAFKA_CONF_UNKNOWN
                ? String(rd: text) : "kafka.properties: \(name) has a value librdkafka refuses",
            remedy: "Correct kafka.properties; librdkafka's CONFIGURATION.md lists names and values.")
    }
}

extension String {
    /// Makes a text from a C buffer.
    init(rd text: [CChar]) {
        self.init(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
