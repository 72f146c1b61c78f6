import ByteText
package import KafkaModel
package import NewsModel
package import PublishEngine

/// The owner of a partition as results name it: a process and one of its assignments.
package struct ResultOwner: Sendable {
    private let process: UInt32
    private var assignment = 0
    package private(set) var text: String

    /// - Parameter process: a value that no other process uses, past or present.
    package init(process: UInt32) {
        self.process = process
        text = Self.text(process, 0)
    }

    /// Starts a new assignment. Another process may have owned the partitions in between.
    package mutating func partitionsAssigned() {
        assignment += 1
        text = Self.text(process, assignment)
    }

    private static func text(_ process: UInt32, _ assignment: Int) -> String {
        "\(String(process, radix: 36)).\(assignment)"
    }
}

extension StoreRequest {
    /// Writes the record for the results topic. It goes to the partition with the event's number.
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

    /// The unchanged event with its outcome in headers. Its timestamp is the time of writing, from which retention
    /// counts; the original time is a header.
    package func deadLetterRecord(_ record: SourceRecord, topic: String, group: String) -> ProducedRecord {
        var ours = [
            RecordHeader(name: HeaderName.source, value: result.coordinates.headerValue),
            RecordHeader(HeaderName.outcome, result.outcome.rawValue),
            RecordHeader(HeaderName.reason, result.error?.code ?? result.outcome.rawValue),
            RecordHeader(HeaderName.group, group),
        ]
        if let time = record.timestamp { ours.append(RecordHeader(HeaderName.writtenAt, String(time.milliseconds))) }
        let original = record.headers.filter { !Self.deadLetterHeaders.contains($0.name) }
        return ProducedRecord(topic: topic, key: record.key, value: record.value, headers: original + ours)
    }

    /// Headers about the dead letter itself. If an event arrives with one, it describes another record and is dropped.
    private static let deadLetterHeaders: Set = [
        HeaderName.source, HeaderName.outcome, HeaderName.reason, HeaderName.writtenAt, HeaderName.truncated,
        HeaderName.group,
    ]
}
