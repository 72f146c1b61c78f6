package import KafkaModel
package import NewsModel
package import PublishEngine

extension StoreRequest {
    /// The record for the results topic, in the same partition as the event's.
    package func resultRecord(
        topic: String, group: [UInt8], carrying carried: [RecordHeader], buffer: inout [UInt8]
    ) -> ProducedRecord {
        buffer.removeAll(keepingCapacity: true)
        result.encode(into: &buffer)
        var headers = [
            RecordHeader(name: HeaderName.source, value: result.coordinates.headerValue),
            RecordHeader(name: HeaderName.outcome, value: result.outcome.headerValue),
            RecordHeader(name: HeaderName.group, value: group),
            RecordHeader(name: HeaderName.identity, value: identity.headerValue),
        ]
        if let version { headers.append(RecordHeader(HeaderName.version, version)) }
        if !carried.isEmpty { headers += carried }
        return ProducedRecord(
            topic: topic, partition: result.source.partition.partition, key: result.key, value: buffer, headers: headers
        )
    }

    /// The event as it came, with its outcome in headers. Its time is that of writing, from which retention counts; the
    /// original's is a header.
    package func deadLetterRecord(_ record: SourceRecord, topic: String) -> ProducedRecord {
        var ours = [
            RecordHeader(name: HeaderName.source, value: result.coordinates.headerValue),
            RecordHeader(name: HeaderName.outcome, value: result.outcome.headerValue),
            RecordHeader(HeaderName.reason, result.error?.code ?? result.outcome.rawValue),
        ]
        if let time = record.timestamp { ours.append(RecordHeader(HeaderName.writtenAt, String(time.milliseconds))) }
        let original = record.headers.filter { !Self.deadLetterHeaders.contains($0.name) }
        return ProducedRecord(topic: topic, key: record.key, value: record.value, headers: original + ours)
    }

    /// Headers about the dead letter itself. If the event came with one, that is about another record.
    private static let deadLetterHeaders: Set = [
        HeaderName.source, HeaderName.outcome, HeaderName.reason, HeaderName.writtenAt, HeaderName.truncated,
    ]
}

extension Outcome {
    /// Its name in bytes, made once.
    fileprivate var headerValue: [UInt8] { Self.headerValues[index] }

    private static let headerValues = allCases.map { Array($0.rawValue.utf8) }
}
