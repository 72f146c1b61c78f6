import ByteText
package import KafkaModel
package import NewsModel
package import PublishEngine

/// The owner of a partition as its results name it: a process, and an assignment of partitions to it.
package struct ResultOwner: Sendable {
    private let process: UInt32
    private var assignment = 0
    package private(set) var text: String

    /// - Parameter process: differs from that of any other process, past or present.
    package init(process: UInt32) {
        self.process = process
        text = Self.text(process, 0)
    }

    /// Partitions were assigned to this process, perhaps again: another process may have had them meanwhile.
    package mutating func partitionsAssigned() {
        assignment += 1
        text = Self.text(process, assignment)
    }

    private static func text(_ process: UInt32, _ assignment: Int) -> String {
        "\(String(process, radix: 36)).\(assignment)"
    }
}

extension StoreRequest {
    /// Writes the record for the results topic, which goes to the same partition as the event's.
    package func resultRecord(
        in draft: inout RecordDraft, topic: String, group: String, owner: ResultOwner, carrying carried: [RecordHeader]
    ) {
        draft.begin(topic: topic, partition: result.source.partition.partition)
        draft.writeKey { $0.append(result.key) }
        draft.writeValue { result.encode(into: &$0) }
        draft.addHeader(HeaderName.source) { result.coordinates.write(to: &$0) }
        draft.addHeader(HeaderName.outcome) { $0.append(result.outcome.rawValue) }
        draft.addHeader(HeaderName.group) { $0.append(group) }
        draft.addHeader(HeaderName.owner) { $0.append(owner.text) }
        draft.addHeader(HeaderName.identity) { identity.write(to: &$0) }
        if let version { draft.addHeader(HeaderName.version) { $0.append(version) } }
        if let story = ledgerStory { draft.addHeader(HeaderName.story) { $0.append(story) } }
        for header in carried { draft.addHeader(header) }
    }

    /// The event as it came, with its outcome in headers. Its time is that of writing, from which retention counts; the
    /// original's is a header.
    package func deadLetterRecord(_ record: SourceRecord, topic: String) -> ProducedRecord {
        var ours = [
            RecordHeader(name: HeaderName.source, value: result.coordinates.headerValue),
            RecordHeader(HeaderName.outcome, result.outcome.rawValue),
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
