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
        ]
        if let identity { headers.append(RecordHeader(HeaderName.identity, identity.description)) }
        if let version { headers.append(RecordHeader(HeaderName.version, version)) }
        if !carried.isEmpty { headers += carried }
        return ProducedRecord(
            topic: topic, partition: result.source.partition.partition, key: result.key, value: buffer, headers: headers
        )
    }

    /// The event as it came, with what became of it beside it. It has the time of its writing, as retention counts from there.
    func deadLetterRecord(_ record: SourceRecord, topic: String) -> ProducedRecord {
        var ours = [
            RecordHeader(name: HeaderName.source, value: result.coordinates.headerValue),
            RecordHeader(name: HeaderName.outcome, value: result.outcome.headerValue),
            RecordHeader(HeaderName.reason, result.error?.code ?? result.outcome.rawValue),
        ]
        if let writtenAt = record.timestamp {
            ours.append(RecordHeader(HeaderName.writtenAt, String(writtenAt.milliseconds)))
        }
        let original = record.headers.filter { header in !ours.contains { $0.name == header.name } }
        return ProducedRecord(topic: topic, key: record.key, value: record.value, headers: original + ours)
    }
}

extension Outcome {
    /// Its name in bytes, made once.
    fileprivate var headerValue: [UInt8] { Self.headerValues[index] }

    private static let headerValues = allCases.map { Array($0.rawValue.utf8) }
}
