import ByteText
public import KafkaModel
public import NewsModel
import NotificationHub

/// The records of the held topic: unchanged originals, with headers that describe them so that readers need not decode events.
public enum HeldRecord {
    /// The change that a record of the held topic makes.
    public enum Reading: Sendable, Hashable {
        /// - Parameter since: the original offset, if the record was written again.
        case held(HeldEvent, since: Int64?)
        /// Events of the story up to the offset are no longer held; `nil` stands for the offset before this record.
        ///
        /// - Parameter original: the event at that offset. If the offset holds a different event, the tombstone was written
        ///   before the topic was recreated, and erases nothing.
        case erased(story: String, upTo: Int64?, original: HeldOriginal? = nil)
        /// The event that was at the offset had vanished from the topic, and its original is on its lane again.
        ///
        /// - Parameter story: a hash of the story.
        case vanished(story: UInt64, at: Int64, original: HeldOriginal)
        /// The record is invalid and stays on the topic.
        case unreadable

        /// Tells the record from the one at the same place after the topic was recreated, which may hold the same event again.
        func identity(writtenAt time: Instant?) -> UInt64 {
            var fingerprint = Fingerprint()
            fingerprint.mix(UInt64(bitPattern: time?.nanoseconds ?? .min))
            switch self {
            case .held(let event, _):
                fingerprint.mix(event.eventID)
                fingerprint.mix(event.source.description)
            case .erased(let story, let upTo, _):
                fingerprint.mix(story)
                fingerprint.mix(UInt64(bitPattern: upTo ?? -1))
            case .vanished(let story, let offset, _):
                // The same as in version 0.1.0, which reads an ordinary tombstone.
                fingerprint.mix(HeldRecord.key(ofVanished: story))
                fingerprint.mix(UInt64(bitPattern: offset))
            case .unreadable: break
            }
            return fingerprint.value
        }
    }

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
        if event.incarnation > 0 {
            headers.append(RecordHeader(HeldHeader.incarnation, String(event.incarnation)))
        }
        if event.replacesFormer { headers.append(RecordHeader(HeldHeader.replaces, HeldHeader.former)) }
        let key = original.key
        if key != story { headers.append(RecordHeader(name: HeldHeader.key, value: key)) }
        return ProducedRecord(
            topic: topic, partition: event.source.partition.partition, key: story, value: original.value ?? [],
            headers: headers)
    }

    /// Interprets a record of the held topic without its value.
    public static func read(key: [UInt8]?, hasValue: Bool, headers: [RecordHeader]) -> Reading {
        guard let story = key.flatMap({ String(validating: $0, as: UTF8.self) }) else { return .unreadable }
        func text(_ name: String) -> String? { headers.last { $0.name == name }?.text }
        guard hasValue else {
            guard let upTo = text(HeldHeader.erases) else { return .erased(story: story, upTo: nil) }
            let original = text(HeldHeader.original).flatMap { UInt64($0) }.flatMap(HeldOriginal.init(packed:))
            if let hash = text(HeldHeader.story).flatMap({ UInt64($0, radix: 16) }) {
                guard let offset = Int64(upTo), let original else { return .unreadable }
                return .vanished(story: hash, at: offset, original: original)
            }
            return Int64(upTo).map { .erased(story: story, upTo: $0, original: original) } ?? .unreadable
        }
        guard let source = text(HeaderName.source).flatMap(ResultRecord.Source.init(_:)),
            let lane = text(HeldHeader.lane), let eventID = text(HeldHeader.eventID),
            let due = text(HeldHeader.due).flatMap({ Int64($0) }),
            let because = text(HeldHeader.because).flatMap(HeldEvent.Because.init(rawValue:))
        else { return .unreadable }
        var event = HeldEvent(
            eventID: eventID, story: story, version: text(HeaderName.version).map { NewsEvent.Version($0) },
            due: Instant(milliseconds: due), because: because, lane: lane, source: source,
            identity: headers.last { $0.name == HeaderName.identity }?.value.flatMap(RecordIdentity.init(headerValue:)))
        event.incarnation = text(HeldHeader.incarnation).flatMap { Int($0) } ?? 0
        event.replacesFormer = text(HeldHeader.replaces) == HeldHeader.former
        event.writtenAt = text(HeaderName.writtenAt).flatMap { Int64($0) }.map { Instant(milliseconds: $0) }
        event.restoredAt = text(HeaderName.restored).flatMap { Int64($0) }.map { Instant(milliseconds: $0) }
        return .held(event, since: text(HeldHeader.since).flatMap { Int64($0) })
    }

    /// Returns the original for its lane's topic and partition. Its timestamp is the return time, because ages count from it.
    ///
    /// - Parameters:
    ///   - target: the partition, if the source partition no longer exists.
    ///   - group: the consumer group that held it. Others skip the record, because they hold the event themselves.
    /// - Returns: `nil` if the record holds no event.
    public static func original(
        _ record: SourceRecord, because reason: ReturnReason, to target: Int32? = nil, group: String? = nil
    ) -> ProducedRecord? {
        guard case .held(let event, _) = read(key: record.key, hasValue: record.hasValue, headers: record.headers)
        else { return nil }
        let key = record.headers.last { $0.name == HeldHeader.key }
        return ProducedRecord(
            topic: event.source.partition.topic, partition: target ?? event.source.partition.partition,
            key: key.map(\.value) ?? record.key, value: record.value,
            headers: returned(
                record.headers.filter { !ours.contains($0.name) }, HeaderName.held, reason.rawValue, event.source, group
            ))
    }

    /// Returns the original for its source topic again, after the held topic has lost it. Its reader decides again whether to
    /// hold it. If two processes write it, the second copy is a duplicate, because the first was accepted or is held.
    ///
    /// - Parameters:
    ///   - now: the wall clock.
    ///   - group: see `original`.
    public static func restored(
        _ original: SourceRecord, to partition: TopicPartition, at now: Instant, group: String? = nil
    ) -> ProducedRecord {
        ProducedRecord(
            topic: partition.topic, partition: partition.partition, key: original.key, value: original.value,
            headers: returned(
                original.headers, HeaderName.restored, String(now.milliseconds),
                .init(partition: partition, offset: original.offset), group))
    }

    /// The headers of a record that is returned to its lane.
    ///
    /// - Parameter source: the place of the record that was held. It may be a copy itself, which names the original.
    private static func returned(
        _ headers: [RecordHeader], _ name: String, _ value: String, _ source: ResultRecord.Source, _ group: String?
    ) -> [RecordHeader] {
        let former = [HeaderName.held, HeaderName.restored] + (group == nil ? [] : [HeaderName.group])
        let hasPlace = headers.contains { $0.name == HeaderName.heldFrom }
        return headers.filter { !former.contains($0.name) } + [RecordHeader(name, value)]
            + (hasPlace ? [] : [RecordHeader(HeaderName.heldFrom, "\(source)")])
            + (group.map { [RecordHeader(HeaderName.group, $0)] } ?? [])
    }

    /// Makes a tombstone for records up to an offset. It names the offset because a newer version may have been written
    /// meanwhile. That version must be written again, or compaction would drop it.
    ///
    /// - Parameter original: the event at the offset; `nil` if it could not be recognized.
    public static func tombstone(
        story: String, upTo offset: Int64, original: HeldOriginal? = nil, topic: String, partition: Int32
    ) -> ProducedRecord {
        var headers = [RecordHeader(HeldHeader.erases, String(offset))]
        if let original { headers.append(RecordHeader(HeldHeader.original, String(original.packed))) }
        return ProducedRecord(
            topic: topic, partition: partition, key: Array(story.utf8), value: nil, headers: headers)
    }

    /// Makes a tombstone for an event that vanished from the topic. Its story is known only by a hash, so the key is not the story's.
    /// Therefore compaction removes no record of the story because of it.
    public static func tombstone(_ vanished: HeldState.Vanished, topic: String) -> ProducedRecord {
        let headers = [
            RecordHeader(HeldHeader.erases, String(vanished.place.offset)),
            RecordHeader(HeldHeader.original, String(vanished.original.packed)),
            RecordHeader(HeldHeader.story, vanished.story.hexDigits),
        ]
        return ProducedRecord(
            topic: topic, partition: vanished.place.partition, key: Array(key(ofVanished: vanished.story).utf8),
            value: nil, headers: headers)
    }

    private static func key(ofVanished story: UInt64) -> String { "nw-vanished-" + story.hexDigits }

    /// Makes a copy of a record, to be written behind the tombstone or older version that endangers it.
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
        HeldHeader.eventID, HeldHeader.due, HeldHeader.because, HeldHeader.key, HeldHeader.since, HeldHeader.erases,
        HeldHeader.original, HeldHeader.story, HeldHeader.incarnation, HeldHeader.replaces,
    ]
}

/// Headers of records on the held topic, besides `nw-source`, `nw-version` and `nw-written-at`.
private enum HeldHeader {
    static let lane = "nw-lane"
    static let eventID = "nw-event"
    /// The due time in milliseconds since 1970.
    static let due = "nw-held-due"
    static let because = "nw-held-because"
    /// The original's key, if it differs from the story.
    static let key = "nw-held-key"
    static let since = "nw-held-since"
    /// The number of the source partition's incarnation (see `CommitNote`); absent for 0.
    static let incarnation = "nw-held-incarnation"
    /// The value `former` stands for an event of a former incarnation of the source partition.
    static let replaces = "nw-held-replaces"
    static let former = "former"
    /// The last offset that a tombstone deletes.
    static let erases = "nw-held-erases"
    /// The event at that offset, as a number.
    static let original = "nw-held-original"
    /// A hash of the story, on the tombstone of a vanished event.
    static let story = "nw-held-story"
}

extension String {
    /// Milliseconds since 1970, rounded up so that nothing returns early.
    fileprivate init(roundedUp time: Instant) {
        let isWhole = Instant(milliseconds: time.milliseconds) >= time
        self = String(isWhole ? time.milliseconds : time.milliseconds + 1)
    }
}
