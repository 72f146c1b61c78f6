import CRdkafka

/// The librdkafka that the program is linked with.
public enum KafkaLibrary {
    public static var version: String { rd_kafka_version_str().map { String(cString: $0) } ?? "unknown" }
}
