/// One record as read from a partition: raw bytes, not yet decoded.
public struct SourceRecord: Sendable, Hashable {
    public var offset: Int64
    /// The broker's or producer's timestamp; `nil` when the record carries none.
    public var timestamp: Instant?
    public var headers: [RecordHeader]
    /// The key, then the value, in one allocation, because every record needs it.
    @usableFromInline
    var bytes: [UInt8]
    @usableFromInline
    package private(set) var hasKey: Bool
    @usableFromInline
    package private(set) var hasValue: Bool
    @usableFromInline
    var keyCount: Int

    public init(
        offset: Int64, timestamp: Instant? = nil, key: [UInt8]? = nil, value: [UInt8]?, headers: [RecordHeader] = []
    ) {
        self.offset = offset
        self.timestamp = timestamp
        self.headers = headers
        bytes = (key ?? []) + (value ?? [])
        (hasKey, hasValue, keyCount) = (key != nil, value != nil, key?.count ?? 0)
    }

    /// Copies key and value out of foreign memory.
    package init(
        offset: Int64, timestamp: Instant?, copying key: UnsafeRawBufferPointer?, _ value: UnsafeRawBufferPointer?,
        headers: [RecordHeader]
    ) {
        self.offset = offset
        self.timestamp = timestamp
        self.headers = headers
        let (keyCount, valueCount) = (key?.count ?? 0, value?.count ?? 0)
        bytes = [UInt8](unsafeUninitializedCapacity: keyCount + valueCount) { memory, count in
            let memory = UnsafeMutableRawBufferPointer(memory)
            if let key { memory.copyMemory(from: key) }
            if let value { UnsafeMutableRawBufferPointer(rebasing: memory[keyCount...]).copyMemory(from: value) }
            count = keyCount + valueCount
        }
        (hasKey, hasValue, self.keyCount) = (key != nil, value != nil, keyCount)
    }

    /// A copy of the key; see `withKey`.
    public var key: [UInt8]? {
        get { withKey { Array($0) } }
        set { self = SourceRecord(offset: offset, timestamp: timestamp, key: newValue, value: value, headers: headers) }
    }

    /// A copy; see `withValue`. `nil` is a tombstone.
    public var value: [UInt8]? {
        get { withValue { Array($0) } }
        set { self = SourceRecord(offset: offset, timestamp: timestamp, key: key, value: newValue, headers: headers) }
    }

    /// - Returns: `nil` without a key.
    @inlinable
    package func withKey<R, E>(_ read: (UnsafeBufferPointer<UInt8>) throws(E) -> R) throws(E) -> R? {
        guard hasKey else { return nil }
        return try bytes.withUnsafeBufferPointer { bytes throws(E) in
            try read(UnsafeBufferPointer(rebasing: bytes.prefix(keyCount)))
        }
    }

    /// - Returns: `nil` without a value.
    @inlinable
    package func withValue<R, E>(_ read: (UnsafeBufferPointer<UInt8>) throws(E) -> R) throws(E) -> R? {
        guard hasValue else { return nil }
        return try bytes.withUnsafeBufferPointer { bytes throws(E) in
            try read(UnsafeBufferPointer(rebasing: bytes.dropFirst(keyCount)))
        }
    }

    /// The size of key, value and headers, in bytes.
    public var byteCount: Int {
        headers.isEmpty ? bytes.count : headers.reduce(bytes.count) { $0 + $1.byteCount }
    }
}

extension SourceRecord {
    /// The way in which a record came to its lane.
    package enum Origin: Sendable, Hashable {
        case published
        /// A person put it back on the lane. It is sent although its event was seen before.
        ///
        /// `of`: the delivery that it repeats, which only one record may do; `nil` if any number may.
        case redriven(of: String?)
    }

    package var origin: Origin {
        guard !headers.isEmpty, headers.contains(where: { $0.name == HeaderName.redrive }) else { return .published }
        return .redriven(of: headers.last { $0.name == HeaderName.redriveOf }?.text)
    }

    /// The place of the original, if this record is its copy from the held topic.
    package var heldFrom: ResultRecord.Source? {
        headers.last { $0.name == HeaderName.heldFrom }?.text.flatMap(ResultRecord.Source.init(_:))
    }

    /// Returns true if another consumer group's dead letter or held event was returned to its lane, or if the record replaces a story
    /// for the readers of that group's hub. Only that group processes it.
    package func isReturned(forOtherThan group: String) -> Bool {
        // Few records name a group, so this is looked for first.
        guard !headers.isEmpty, let owner = headers.last(where: { $0.name == HeaderName.group })?.text, owner != group
        else { return false }
        return headers.contains { HeaderName.ofOneGroup.contains($0.name) }
    }
}

/// A record header. Names may repeat; values may be absent.
public struct RecordHeader: Sendable, Hashable {
    public var name: String
    public var value: [UInt8]?

    public init(name: String, value: [UInt8]?) {
        self.name = name
        self.value = value
    }

    public init(_ name: String, _ text: String) { self.init(name: name, value: Array(text.utf8)) }

    /// The size of name and value.
    public var byteCount: Int { name.utf8.count + (value?.count ?? 0) }

    /// The value as text; `nil` when absent or not UTF-8.
    public var text: String? { value.flatMap { String(validating: $0, as: UTF8.self) } }
}

/// The record headers that Newswire reads and writes.
public enum HeaderName {
    /// On results and dead letters: `topic/partition/offset/platform` of the event (`SourceCoordinates`).
    public static let source = "nw-source"
    /// On results and dead letters: the outcome's name.
    public static let outcome = "nw-outcome"
    /// On results and dead letters: the consumer group that wrote them (`kafka.group`). Results of other groups are not part of our
    /// ledger. On a record returned to its lane: the group whose dead letter or held event it was; on a replacement: the group whose
    /// readers have the story. Other groups skip both.
    public static let group = "nw-group"
    /// On dead letters: the code of the failure.
    public static let reason = "nw-reason"
    /// On results: the event's version, for finding duplicates without reading JSON.
    public static let version = "nw-version"
    /// On results of events that older events of their story must not follow: the story. It identifies those after a restart.
    public static let story = "nw-story"
    /// On results: the identity of the record, a hash of 16 hexadecimal digits. Coordinates repeat when a topic is
    /// created again.
    public static let identity = "nw-identity"
    /// On results: the writing process and its assignment number, as `id.number`. Only another owner of the partition
    /// writes a second result of a delivery. `newswire runs --verify` detects a crash by it.
    public static let owner = "nw-owner"
    /// On dead letters: when the original was written, in milliseconds since 1970.
    public static let writtenAt = "nw-written-at"
    /// On dead letters without the original's value and headers, which the broker refused as too large: `true`.
    public static let truncated = "nw-truncated"
    /// On a record put back on its lane: the number of times that happened.
    public static let redrive = "nw-redrive"
    /// On a record put back on its lane, and on its result: `topic/partition/offset` of the event that it repeats. Of several
    /// such records one is sent to each platform. Without it, all are.
    public static let redriveOf = "nw-redrive-of"
    /// The platforms that the record is for, separated by commas. On a record put back on its lane it is the one that failed, on a
    /// replacement those that accepted the story, on a held event those that were held if others were not.
    public static let platform = "nw-platform"
    /// On events of feeds: the feed's name in the settings.
    public static let feed = "nw-feed"
    /// On events of a run of `publish`: the run's id.
    public static let run = "nw-run"
    /// On events that must reach no one with a sound or a banner, e.g. from an archive: present, with any value.
    public static let quiet = "nw-quiet"
    /// The environment of an event that does not name one.
    public static let environment = "nw-environment"
    /// On an event that replaces a recalled story on phones: the id of the recall order. The event may pass while that
    /// order is in force.
    public static let replacement = "nw-replacement"
    /// On events in Newswire's own shape on a topic with documents of other formats: `builtInFormat`.
    public static let format = "nw-format"
    public static let builtInFormat = "news-event"
    /// On events returned from the held topic: the reason.
    public static let held = "nw-held"
    /// On an original that was written to its lane again after the held topic had lost the event: the time in milliseconds.
    package static let restored = "nw-held-restored"
    /// On events returned from the held topic, or written to their lane again: the `topic/partition/offset` of the original. The
    /// events of its story that came after it are newer, although the record stands behind them.
    package static let heldFrom = "nw-held-from"
    /// The headers of records that are for one group only: those returned to their lane, and replacements.
    static let ofOneGroup = [redrive, held, restored, replacement]

    public static let contentType = "content-type"
    /// The header of W3C Trace Context.
    public static let traceParent = "traceparent"
    public static let traceState = "tracestate"

    /// CloudEvents in Kafka's binary mode: every attribute is a header with this prefix.
    public static let cloudEventPrefix = "ce_"
    public static let cloudEventVersion = "ce_specversion"
    public static let cloudEventID = "ce_id"
    public static let cloudEventTime = "ce_time"

    /// True for headers of an event that its results carry too.
    public static func isCarried(_ name: String) -> Bool {
        name.utf8.starts(with: cloudEventPrefix.utf8) || isCarriedFirst(name)
    }

    fileprivate static func isCarriedFirst(_ name: String) -> Bool {
        name == traceParent || name == traceState || name == redriveOf
    }
}

extension HeaderName {
    /// The total size of the names and values that a result carries.
    public static let carriedBytesMax = 8 << 10
    /// The size of one value; headers with a longer one are left out.
    public static let carriedValueBytesMax = 2 << 10
}

extension [RecordHeader] {
    /// The headers of an event that its results carry too, in order and within the limits of `HeaderName`. The trace
    /// context and `redriveOf` have priority; among the others, earlier headers do.
    public var carriedToResults: [RecordHeader] {
        guard contains(where: { HeaderName.isCarried($0.name) }) else { return [] }
        var room = HeaderName.carriedBytesMax
        func fits(_ header: RecordHeader) -> Bool {
            guard (header.value?.count ?? 0) <= HeaderName.carriedValueBytesMax, header.byteCount <= room else {
                return false
            }
            room -= header.byteCount
            return true
        }
        var isCarried = [Bool](repeating: false, count: count)
        for index in indices where HeaderName.isCarriedFirst(self[index].name) { isCarried[index] = fits(self[index]) }
        for index in indices
        where HeaderName.isCarried(self[index].name) && !HeaderName.isCarriedFirst(self[index].name) {
            isCarried[index] = fits(self[index])
        }
        return indices.filter { isCarried[$0] }.map { self[$0] }
    }
}
