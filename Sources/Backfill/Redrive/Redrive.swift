import ByteText
package import KafkaModel
package import NewsModel
package import NotificationHub
import PublishEngine

/// Decides which dead letters return to their lane, and builds the records to write.
package struct Redrive: Sendable {
    /// The outcomes to include; empty for any.
    package var outcomes: Set<Outcome> = []
    /// The reasons to include; empty for any.
    package var reasons: Set<String> = []
    /// The earliest time at which an event was put on its lane. Its dead letter carries that time in a header.
    package var since: Instant?
    package var until: Instant?
    /// The topics of all lanes, each with its partition count.
    package var topics: [String: Int]
    /// The topics to include; `nil` for all.
    package var wantedTopics: Set<String>?
    /// Maximum number of times that one record is returned to its lane.
    package var maximum = 3
    /// The records are sent even if others repeat the same deliveries.
    package var isAgain = false

    /// The consumer group of the configuration.
    private let group: String
    /// The platforms of the configuration. A record for another one would go to all of these.
    private let platforms: [Platform]
    /// An earlier name of the group, whose dead letters are included.
    package var formerGroup: String?

    package init(topics: [String: Int], group: String, platforms: [Platform]) {
        (self.topics, self.group, self.platforms) = (topics, group, platforms)
    }

    package enum Verdict: Sendable, Hashable {
        case putBack(ProducedRecord)
        /// Excluded by a filter.
        case passedOver
        case refused(Refusal)
    }

    package enum Refusal: String, Sendable, Hashable, CaseIterable {
        case notOurs = "not a dead letter of newswire"
        case otherGroup = "of another consumer group: use a configuration with its kafka.group"
        case foreignTopic = "its topic is not in a lane of this configuration, or does not exist any more"
        case maximumReached = "already put back too often"
        case foreignPlatform = "its platform is not one that this configuration sends to"
        case truncated = "its original was too large for the dead-letter topic; nw-source tells its place"
    }

    /// The headers of a dead letter.
    package struct Label: Sendable, Hashable {
        package var outcome: Outcome
        package var reason: String
        package var coordinates: SourceCoordinates
        /// The number of times that it was returned to its lane before.
        var count: Int
        /// The time at which the event was put on its lane.
        var writtenAt: Instant?
        /// The consumer group that wrote it; `nil` on dead letters of earlier versions.
        var group: String?
        /// True if the original was too large and is missing.
        var isTruncated: Bool
    }

    /// The label of a dead letter; `nil` if the headers are not those of a dead letter.
    package static func label(_ record: SourceRecord) -> Label? {
        func header(_ name: String) -> RecordHeader? { record.headers.last { $0.name == name } }
        guard let outcome = header(HeaderName.outcome)?.text.flatMap(Outcome.init(rawValue:)),
            let coordinates = header(HeaderName.source)?.value.flatMap(SourceCoordinates.init(headerValue:))
        else { return nil }
        // Newswire writes only numbers here. Anything else counts as the maximum, so that the record cannot circulate forever.
        let count = header(HeaderName.redrive).map { $0.text.flatMap { Int(digits: $0) } ?? .max } ?? 0
        // Dead letters of earlier versions carry the original's time as their own.
        let writtenAt = header(HeaderName.writtenAt)?.text.flatMap { Int64($0) }.map { Instant(milliseconds: $0) }
        return Label(
            outcome: outcome, reason: header(HeaderName.reason)?.text ?? outcome.rawValue, coordinates: coordinates,
            count: count, writtenAt: writtenAt ?? record.timestamp, group: header(HeaderName.group)?.text,
            isTruncated: header(HeaderName.truncated) != nil)
    }

    /// True if the former group may have written the dead letter, because it names that group or none.
    func mayBeOfFormerGroup(_ record: SourceRecord) -> Bool {
        guard let formerGroup, let label = Self.label(record) else { return false }
        return label.group == nil || label.group == formerGroup
    }

    package func verdict(on record: SourceRecord) -> Verdict {
        guard let label = Self.label(record) else { return .refused(.notOurs) }
        let source = label.coordinates.source.partition
        guard outcomes.isEmpty || outcomes.contains(label.outcome), reasons.isEmpty || reasons.contains(label.reason),
            wantedTopics?.contains(source.topic) ?? true, isInTime(label.writtenAt)
        else { return .passedOver }
        if let owner = label.group, owner != group, owner != formerGroup { return .refused(.otherGroup) }
        guard let partitions = topics[source.topic] else { return .refused(.foreignTopic) }
        guard platforms.contains(label.coordinates.platform) else { return .refused(.foreignPlatform) }
        if label.isTruncated { return .refused(.truncated) }
        guard label.count < maximum else { return .refused(.maximumReached) }
        let ours = [
            HeaderName.outcome, HeaderName.reason, HeaderName.source, HeaderName.writtenAt, HeaderName.truncated,
            HeaderName.redrive, HeaderName.redriveOf, HeaderName.platform, HeaderName.group,
        ]
        var headers = record.headers.filter { !ours.contains($0.name) }
        headers.append(RecordHeader(HeaderName.redrive, String(label.count + 1)))
        if !isAgain {
            // Two people may put the same one back at the same time. If both copies fail, both dead letters repeat this one.
            let repeated = record.headers.last { $0.name == HeaderName.redriveOf }?.text
            headers.append(RecordHeader(HeaderName.redriveOf, repeated ?? label.coordinates.source.description))
        }
        headers.append(RecordHeader(HeaderName.platform, label.coordinates.platform.rawValue))
        // Every other group that reads the lane skips the record.
        if label.group != nil { headers.append(RecordHeader(HeaderName.group, group)) }
        // The same partition keeps the story's order, and the same time keeps old news too old.
        return .putBack(
            ProducedRecord(
                topic: source.topic, partition: source.partition < partitions ? source.partition : nil,
                key: record.key, value: record.value, headers: headers, timestamp: label.writtenAt))
    }

    /// - Parameters:
    ///   - original: the record of an event as it was on its lane, found again on some topic.
    ///   - result: the delivery that ended without it.
    package func verdict(on original: SourceRecord, of result: ResultRecord) -> Verdict {
        let ours: Set = [
            HeaderName.held, HeaderName.heldFrom, HeaderName.outcome, HeaderName.reason, HeaderName.source,
            HeaderName.truncated, HeaderName.group,
        ]
        // In the form of a dead letter of the delivery, which returns to its lane for that platform only.
        var letter = original
        letter.headers.removeAll { ours.contains($0.name) }
        letter.headers += [
            RecordHeader(HeaderName.outcome, result.outcome.rawValue),
            RecordHeader(HeaderName.reason, result.error?.code ?? result.outcome.rawValue),
            RecordHeader(name: HeaderName.source, value: result.coordinates.headerValue),
            RecordHeader(HeaderName.group, group),
        ]
        return verdict(on: letter)
    }

    private func isInTime(_ time: Instant?) -> Bool {
        if since == nil && until == nil { return true }
        guard let time else { return false }
        return time >= since ?? .distantPast && time < until ?? .distantFuture
    }

    /// Joins records that are the same but for their platforms, so that an event keeps one place on the held topic.
    package static func joined(_ records: [ProducedRecord]) -> [ProducedRecord] {
        var joined: [ProducedRecord] = []
        var places: [ProducedRecord: Int] = [:]
        for record in records {
            var rest = record
            rest.headers.removeAll { $0.name == HeaderName.platform }
            guard let place = places[rest],
                let platform = record.headers.last(where: { $0.name == HeaderName.platform })?.text,
                let index = joined[place].headers.lastIndex(where: { $0.name == HeaderName.platform }),
                let platforms = joined[place].headers[index].text
            else {
                places[rest] = joined.count
                joined.append(record)
                continue
            }
            if platforms.split(separator: ",").contains(Substring(platform)) { continue }
            joined[place].headers[index] = RecordHeader(HeaderName.platform, "\(platforms),\(platform)")
        }
        return joined
    }
}
