import KafkaModel
import NewsModel
import PublishEngine

/// Which dead letters go back to their lane, and as what.
struct Redrive: Sendable {
    /// Empty for any.
    var outcomes: Set<Outcome> = []
    /// Empty for any.
    var reasons: Set<String> = []
    /// By the time the event was put on its lane, which its dead letter carries in a header.
    var since: Instant?
    var until: Instant?
    /// The topics that may be written to, each with its partition count.
    var topics: [String: Int]
    /// Topics outside of this are passed over; `nil` for all.
    var wantedTopics: Set<String>?
    /// How often one record may be put back.
    var maximum = 3

    enum Verdict: Sendable, Hashable {
        case putBack(ProducedRecord)
        /// A filter does not want it.
        case passedOver
        case refused(Refusal)
    }

    enum Refusal: String, Sendable, Hashable, CaseIterable {
        case notOurs = "no dead letter of newswire"
        case foreignTopic = "its topic is in no lane of this configuration, or is gone"
        case maximumReached = "put back too often already"
        case truncated = "its original was too large for the dead-letter topic; it stands where nw-source says"
    }

    /// What a dead letter says of itself.
    struct Label: Sendable, Hashable {
        var outcome: Outcome
        var reason: String
        var coordinates: SourceCoordinates
        /// How often it was put back before.
        var count: Int
        /// When the event was put on its lane.
        var writtenAt: Instant?
        /// Without the original, which was too large.
        var isTruncated: Bool
    }

    /// `nil` when the headers are not those of a dead letter.
    static func label(_ record: SourceRecord) -> Label? {
        func header(_ name: String) -> RecordHeader? { record.headers.last { $0.name == name } }
        guard let outcome = header(HeaderName.outcome)?.text.flatMap(Outcome.init(rawValue:)),
            let coordinates = header(HeaderName.source)?.value.flatMap(SourceCoordinates.init(headerValue:))
        else { return nil }
        // A count that is no number was not written here: better none more than without end.
        let count = header(HeaderName.redrive).map { $0.text.flatMap(SettingsValue.integer) ?? .max } ?? 0
        // Dead letters of earlier versions have the original's time as their own.
        let writtenAt = header(HeaderName.writtenAt)?.text.flatMap { Int64($0) }.map { Instant(milliseconds: $0) }
        return Label(
            outcome: outcome, reason: header(HeaderName.reason)?.text ?? outcome.rawValue, coordinates: coordinates,
            count: count, writtenAt: writtenAt ?? record.timestamp, isTruncated: header(HeaderName.truncated) != nil)
    }

    func verdict(on record: SourceRecord) -> Verdict {
        guard let label = Self.label(record) else { return .refused(.notOurs) }
        let source = label.coordinates.source.partition
        guard outcomes.isEmpty || outcomes.contains(label.outcome), reasons.isEmpty || reasons.contains(label.reason),
            wantedTopics?.contains(source.topic) ?? true, isInTime(label.writtenAt)
        else { return .passedOver }
        guard let partitions = topics[source.topic] else { return .refused(.foreignTopic) }
        if label.isTruncated { return .refused(.truncated) }
        guard label.count < maximum else { return .refused(.maximumReached) }
        let ours = [
            HeaderName.outcome, HeaderName.reason, HeaderName.source, HeaderName.writtenAt, HeaderName.truncated,
            HeaderName.redrive, RedriveHeader.platform,
        ]
        var headers = record.headers.filter { !ours.contains($0.name) }
        headers.append(RecordHeader(HeaderName.redrive, String(label.count + 1)))
        headers.append(RecordHeader(RedriveHeader.platform, label.coordinates.platform.rawValue))
        // The partition it had, so that a story keeps its order; and its time, so that old news is still too old.
        return .putBack(
            ProducedRecord(
                topic: source.topic, partition: source.partition < partitions ? source.partition : nil,
                key: record.key, value: record.value, headers: headers, timestamp: label.writtenAt))
    }

    private func isInTime(_ time: Instant?) -> Bool {
        if since == nil && until == nil { return true }
        guard let time else { return false }
        return time >= since ?? .distantPast && time < until ?? .distantFuture
    }
}
