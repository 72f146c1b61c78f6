import ByteText
import CRdkafka
import KafkaModel
import NewsModel

extension ProducedRecord {
    /// The record that a failed message was made from.
    init(_ message: UnsafePointer<rd_kafka_message_t>) {
        self.init(
            topic: message.pointee.rkt.flatMap { rd_kafka_topic_name($0) }.map { String(cString: $0) } ?? "",
            partition: message.pointee.partition >= 0 ? message.pointee.partition : nil, key: message.key,
            value: message.value, headers: message.headers, timestamp: message.timestamp)
    }

    /// Hands the record to the producer, which copies it. `topicHandle` saves looking up the topic by name.
    func produce(_ client: RdClient, topicHandle: OpaquePointer?, opaque: UInt) -> rd_kafka_resp_err_t {
        let list = headers.isEmpty ? nil : rd_kafka_headers_new(headers.count)
        for header in headers {
            withBytes(header.value) { start, count in
                // With its length, as a C string would have to be made of most names.
                header.name.withBytes { name in
                    _ = name.withMemoryRebound(to: CChar.self) {
                        rd_kafka_header_add(list, $0.baseAddress, $0.count, start, count)
                    }
                }
            }
        }
        let result = withBytes(key) { key, keySize in
            withBytes(value) { value, valueSize in
                newswire_produce(
                    client.handle, topicHandle, topic, partition ?? RD_KAFKA_PARTITION_UA, key, keySize, value,
                    valueSize, timestamp.map { max($0.milliseconds, 0) } ?? 0, list,
                    UnsafeMutableRawPointer(bitPattern: opaque))
            }
        }
        if result != RD_KAFKA_RESP_ERR_NO_ERROR, let list { rd_kafka_headers_destroy(list) }
        return result
    }

    /// Absent bytes are a null pointer, empty ones are not: to Kafka they differ.
    private func withBytes<R>(_ bytes: [UInt8]?, _ body: (UnsafeRawPointer?, Int) -> R) -> R {
        guard let bytes else { return body(nil, 0) }
        guard !bytes.isEmpty else {
            return withUnsafeBytes(of: 0 as UInt8) { body($0.baseAddress, 0) }
        }
        return bytes.withUnsafeBytes { body($0.baseAddress, $0.count) }
    }
}
