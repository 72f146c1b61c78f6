import ByteText
import CRdkafka
import KafkaModel
import NewsModel

extension ProducedRecord {
    /// Makes the record that a failed message was produced from.
    init(_ message: UnsafePointer<rd_kafka_message_t>) {
        self.init(
            topic: message.pointee.rkt.flatMap { rd_kafka_topic_name($0) }.map { String(cString: $0) } ?? "",
            partition: message.pointee.partition >= 0 ? message.pointee.partition : nil, key: message.key,
            value: message.value, headers: message.headers, timestamp: message.timestamp)
    }

    /// Hands the record to the producer, which copies it.
    ///
    /// - Parameter topicHandle: avoids a lookup of the topic by name.
    func produce(_ client: RdClient, topicHandle: OpaquePointer?, opaque: UInt) -> rd_kafka_resp_err_t {
        let list = makeHeaders(headers.count)
        for header in headers {
            withBytes(header.value) { value in
                header.name.withBytes { add(UnsafeRawBufferPointer($0), value, to: list) }
            }
        }
        return withBytes(key) { key in
            withBytes(value) { value in
                client.produce(
                    topic, topicHandle, partition, key: key, value: value, timestamp: timestamp, headers: list,
                    opaque: opaque)
            }
        }
    }

    /// Passes absent bytes as a null pointer, but empty ones as a valid pointer, because Kafka distinguishes them.
    private func withBytes<R>(_ bytes: [UInt8]?, _ body: (UnsafeRawBufferPointer?) -> R) -> R {
        guard let bytes else { return body(nil) }
        guard !bytes.isEmpty else {
            return withUnsafeBytes(of: 0 as UInt8) { body(UnsafeRawBufferPointer(rebasing: $0[..<0])) }
        }
        return bytes.withUnsafeBytes(body)
    }
}

extension RecordDraft {
    /// Hands the record to the producer, which copies it.
    ///
    /// - Parameter topicHandle: avoids a lookup of the topic by name.
    func produce(_ client: RdClient, topicHandle: OpaquePointer?, opaque: UInt) -> rd_kafka_resp_err_t {
        let list = makeHeaders(headerCount)
        forEachHeader { add($0, $1, to: list) }
        return client.produce(
            topic, topicHandle, partition, key: key, value: value, timestamp: nil, headers: list, opaque: opaque)
    }
}

extension RdClient {
    /// - Parameter headers: owned by the producer from now on, or freed on failure.
    fileprivate func produce(
        _ topic: String, _ topicHandle: OpaquePointer?, _ partition: Int32?, key: UnsafeRawBufferPointer?,
        value: UnsafeRawBufferPointer?, timestamp: Instant?, headers: OpaquePointer?, opaque: UInt
    ) -> rd_kafka_resp_err_t {
        func produce(_ topic: UnsafePointer<CChar>?) -> rd_kafka_resp_err_t {
            newswire_produce(
                handle, topicHandle, topic, partition ?? RD_KAFKA_PARTITION_UA, key?.baseAddress, key?.count ?? 0,
                value?.baseAddress, value?.count ?? 0, timestamp.map { max($0.milliseconds, 0) } ?? 0, headers,
                UnsafeMutableRawPointer(bitPattern: opaque))
        }
        let result = topicHandle == nil ? topic.withCString(produce) : produce(nil)
        if result != RD_KAFKA_RESP_ERR_NO_ERROR, let headers { rd_kafka_headers_destroy(headers) }
        return result
    }
}

/// - Returns: librdkafka's list; `nil` if there are no headers.
private func makeHeaders(_ count: Int) -> OpaquePointer? { count == 0 ? nil : rd_kafka_headers_new(count) }

/// - Parameter name: passed with its length, because most names would need a copy to become a C string.
private func add(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer?, to headers: OpaquePointer?) {
    let name = name.assumingMemoryBound(to: CChar.self)
    rd_kafka_header_add(headers, name.baseAddress, name.count, value?.baseAddress, value?.count ?? 0)
}
