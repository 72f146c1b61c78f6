import CRdkafka

/// The linked librdkafka.
public enum KafkaLibrary {
    public static var version: String { rd_kafka_version_str().map { String(cString: $0) } ?? "unknown" }
}
