public import KafkaModel
public import NewsModel

/// The records of the held topic: originals byte for byte, with what is to be known of them in headers, so that whoever follows
/// the topic reads no event.
public enum HeldRecord {
    /// How a record of the held topic changes what is held.
    public enum Reading: Sendable, Hashable {
        /// - Parameter since: the offset at which the same record stood first, if it was written again.
        case held(HeldEvent, since: Int64?)
        /// Nothing of the story is held any more that stood up to the offset; `nil`: before this record.
        case erased(story: String, upTo: Int64?)
        /// It is left alone.
        case unreadable
    }

    /// The record that holds an event.
    public static func hold(_ original: SourceRecord, _ event: HeldEvent, topic: String) -> ProducedRecord {
        let story = Array(event.story.utf8)
        var headers = original.headers.filter { !ours.contains($0.name) && $0.name != HeaderName.held }
        headers += [
            RecordHeader(HeaderName.source, "\(event.source)"), RecordHeader(HeldHeader.lane, event.lane),
            RecordHeader(HeldHeader.eventID, event.eventID),
            RecordHeader(HeldHeader.due, String(roundedUp: event.due)),
            RecordHeader(HeldHeader.because, event.because.rawValue),
            RecordHeader(name: HeaderName.identity, value: RecordIdentity(of: original).headerValue),
        ]
        if let version = event.version { headers.append(RecordHeader(HeaderName.version, version.text)) }
        if let time = original.timestamp {
            headers.append(RecordHeader(HeaderName.writtenAt, String(time.milliseconds)))
        }
        let key = original.key
        if key != story { headers.append(RecordHeader(name: HeldHeader.key, value: key)) }
        return ProducedRecord(
            topic: topic, partition: event.source.partition.partition, key: story, value: original.value ?? [],
            headers: headers)
    }

    /// What a record of the held topic says, without its value.
    public static func read(key: [UInt8]?, hasValue: Bool, headers: [RecordHeader]) -> Reading {
        guard let story = key.flatMap({ String(validating: $0, as: UTF8.self) }) else { return .unreadable }
        func text(_ name: String) -> String? { headers.last { $0.name == name }?.text }
        guard hasValue else {
            guard let upTo = text(HeldHeader.erases) else { return .erased(story: story, upTo: nil) }
            return Int64(upTo).map { .erased(story: story, upTo: $0) } ?? .unreadable
        }
        guard let source = text(HeaderName.source).flatMap(ResultRecord.Source.init(_:)),
            let lane = text(HeldHeader.lane), let eventID = text(HeldHeader.eventID),
            let due = text(HeldHeader.due).flatMap({ Int64($0) }),
            let because = text(HeldHeader.because).flatMap(HeldEvent.Because.init(rawValue:))
        else { return .unreadable }
        let event = HeldEvent(
            eventID: eventID, story: story, version: text(HeaderName.version).map { NewsEvent.Version($0) },
            due: Instant(milliseconds: due), because: because, lane: lane, source: source,
            identity: headers.last { $0.name == HeaderName.identity }?.value.flatMap(RecordIdentity.init(headerValue:)))
        return .held(event, since: text(HeldHeader.since).flatMap { Int64($0) })
    }

    /// The original, for its lane's topic and its partition there. Its time is that of the return, as ages count from it.
    ///
    /// - Parameter target: the partition, if the one that it came from is no more.
    /// - Returns: `nil` if it holds none.
    public static func original(
        _ record: SourceRecord, because reason: ReturnReason, to target: Int32? = nil
    ) -> ProducedRecord? {
        guard case .held(let event, _) = read(key: record.key, hasValue: record.hasValue, headers: record.headers)
        else { return nil }
        let key = record.headers.last { $0.name == HeldHeader.key }
        return ProducedRecord(
            topic: event.source.partition.topic, partition: target ?? event.source.partition.partition,
            key: key.map(\.value) ?? record.key, value: record.value,
            headers: record.headers.filter { !ours.contains($0.name) }
                + [RecordHeader(HeaderName.held, reason.rawValue)])
    }

    /// The original once more, from its source topic, after the held topic has lost it. Whoever reads it decides again whether it is
    /// held. Should two processes write it, the second copy is a duplicate, since the first was accepted or is held.
    public static func restored(_ original: SourceRecord, to partition: TopicPartition) -> ProducedRecord {
        ProducedRecord(
            topic: partition.topic, partition: partition.partition, key: original.key, value: original.value,
            headers: original.headers.filter { $0.name != HeaderName.held })
    }

    /// Ends the holding of what stood up to an offset. It names the offset, as a newer version may have been written meanwhile:
    /// that one is to be written again, or compaction would drop it.
    public static func tombstone(
        story: String, upTo offset: Int64, topic: String, partition: Int32
    ) -> ProducedRecord {
        ProducedRecord(
            topic: topic, partition: partition, key: Array(story.utf8), value: nil,
            headers: [RecordHeader(HeldHeader.erases, String(offset))])
    }

    /// The same record once more, behind a tombstone or an older version that would have cost it its place.
    public static func again(_ record: SourceRecord, topic: String, partition: Int32) -> ProducedRecord {
        var headers = record.headers
        if !headers.contains(where: { $0.name == HeldHeader.since }) {
            headers.append(RecordHeader(HeldHeader.since, String(record.offset)))
        }
        return ProducedRecord(
            topic: topic, partition: partition, key: record.key, value: record.value, headers: headers)
    }

    private static let ours: Set = [
        HeaderName.source, HeaderName.version, HeaderName.writtenAt, HeaderName.identity, HeldHeader.lane,
        HeldHeader.eventID,
        HeldHeader.due,
        HeldHeader.because, HeldHeader.key, HeldHeader.since, HeldHeader.erases,
    ]
}

/// Headers of records on the held topic, beside `nw-source`, `nw-version` and `nw-written-at`.
private enum HeldHeader {
    static let lane = "nw-lane"
    static let eventID = "nw-event"
    /// Milliseconds since 1970.
    static let due = "nw-held-due"
    static let because = "nw-held-because"
    /// The original's key, if that is not the story.
    static let key = "nw-held-key"
    static let since = "nw-held-since"
    /// On a tombstone.
    static let erases = "nw-held-erases"
}

extension String {
    /// Milliseconds since 1970, up: nothing is to return early.
    fileprivate init(roundedUp time: Instant) {
        let isWhole = Instant(milliseconds: time.milliseconds) >= time
        self = String(isWhole ? time.milliseconds : time.milliseconds + 1)
    }
}

extension ResultRecord.Source {
    /// `nil` unless the text is `topic/partition/offset`.
    fileprivate init?(_ text: String) {
        // A topic's name has no slash.
        guard let coordinates = SourceCoordinates("\(text)/\(Platform.template.rawValue)") else { return nil }
        self = coordinates.source
    }
}
