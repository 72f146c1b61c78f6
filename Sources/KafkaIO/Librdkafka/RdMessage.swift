import CRdkafka
import NewsModel

/// Copies of a librdkafka message, which is destroyed immediately after.
extension SourceRecord {
    init(_ message: UnsafePointer<rd_kafka_message_t>) {
        self.init(
            offset: message.pointee.offset, timestamp: message.timestamp,
            copying: message.pointee.key.map { UnsafeRawBufferPointer(start: $0, count: message.pointee.key_len) },
            message.pointee.payload.map { UnsafeRawBufferPointer(start: $0, count: message.pointee.len) },
            headers: message.headers)
    }
}

extension UnsafePointer<rd_kafka_message_t> {
    var timestamp: Instant? {
        var type = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE
        let milliseconds = rd_kafka_message_timestamp(self, &type)
        return type == RD_KAFKA_TIMESTAMP_NOT_AVAILABLE ? nil : Instant(milliseconds: milliseconds)
    }

    var key: [UInt8]? { bytes(pointee.key, pointee.key_len) }

    var value: [UInt8]? { bytes(pointee.payload, pointee.len) }

    var headers: [RecordHeader] {
        var list: OpaquePointer?
        guard rd_kafka_message_headers(self, &list) == RD_KAFKA_RESP_ERR_NO_ERROR, let list else { return [] }
        let count = rd_kafka_header_cnt(list)
        var result: [RecordHeader] = []
        result.reserveCapacity(count)
        for index in 0..<count {
            var name: UnsafePointer<CChar>?
            var value: UnsafeRawPointer?
            var size = 0
            guard
                rd_kafka_header_get_all(list, index, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR, let name
            else { break }
            result.append(RecordHeader(name: String(cString: name), value: bytes(value, size)))
        }
        return result
    }

    /// Returns the last header with this name.
    func header(_ name: String) -> [UInt8]? {
        var list: OpaquePointer?
        guard rd_kafka_message_headers(self, &list) == RD_KAFKA_RESP_ERR_NO_ERROR, let list else { return nil }
        var value: UnsafeRawPointer?
        var size = 0
        guard rd_kafka_header_get_last(list, name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR else { return nil }
        return bytes(value, size)
    }

    private func bytes(_ start: UnsafeRawPointer?, _ count: Int) -> [UInt8]? {
        start.map { [UInt8](UnsafeRawBufferPointer(start: $0, count: count)) }
    }
}
