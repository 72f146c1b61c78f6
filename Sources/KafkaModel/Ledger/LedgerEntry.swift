public import NewsModel
public import NotificationHub

/// A record of the results topic: the end of one delivery, read from its key and headers alone.
public struct LedgerEntry: Sendable, Hashable {
    /// The result's offset in its partition.
    public var offset: Int64
    public var source: ResultRecord.Source
    public var platform: Platform
    /// The outcome; `nil` if the header is missing or unknown to this version. The delivery is settled anyway.
    public var outcome: Outcome?
    /// The record of the result. Identity and coordinates together name a delivery; coordinates alone repeat when a
    /// topic is recreated.
    public var identity: RecordIdentity
    /// The event id; `nil` for a record without one.
    public var eventID: String?
    public var version: String?
    /// The story, if older events of it must not follow; see `HeaderName.story`.
    public var story: String?
    /// The delivery that the record repeats, if a person put it back on its lane.
    public var redriveOf: String?
    /// The record may be read again: it is at or above the group's committed offset, or no offset is committed. Other
    /// entries only help to recognise duplicates.
    public var isOpen = true

    public init(
        offset: Int64, source: ResultRecord.Source, platform: Platform, outcome: Outcome?, identity: RecordIdentity,
        eventID: String? = nil, version: String? = nil, story: String? = nil, redriveOf: String? = nil,
        isOpen: Bool = true
    ) {
        self.offset = offset
        self.source = source
        self.platform = platform
        self.outcome = outcome
        self.identity = identity
        self.eventID = eventID
        self.version = version
        self.story = story
        self.redriveOf = redriveOf
        self.isOpen = isOpen
    }

    /// - Parameters:
    ///   - key: the result's key: the event id, or the coordinates of a record without one.
    ///   - group: the group whose results count. A result without a group counts too, because sending twice is worse.
    ///   - header: the last header of a name.
    /// - Returns: `nil` for a record that is not a result, or another group's.
    public init?(offset: Int64, key: [UInt8]?, group: [UInt8], header: (String) -> [UInt8]?) {
        guard let value = header(HeaderName.source), let coordinates = SourceCoordinates(headerValue: value) else {
            return nil
        }
        if let owner = header(HeaderName.group), owner != group { return nil }
        func text(_ name: String) -> String? { header(name).map { String(decoding: $0, as: UTF8.self) } }
        // The key of a record without an id is its coordinates.
        let key = key.map { String(decoding: $0, as: UTF8.self) } ?? ""
        let eventID = key == coordinates.source.description ? nil : key
        let identity = header(HeaderName.identity).flatMap(RecordIdentity.init(headerValue:))
        self.init(
            offset: offset, source: coordinates.source, platform: coordinates.platform,
            outcome: text(HeaderName.outcome).flatMap(Outcome.init(rawValue:)),
            identity: identity ?? RecordIdentity(eventID: key), eventID: eventID, version: text(HeaderName.version),
            story: text(HeaderName.story), redriveOf: text(HeaderName.redriveOf))
    }
}

/// The start of reading the ledger: the offset the group committed for the results partition, else a time, else the newest
/// results.
public struct RestoreStart: Sendable, Hashable {
    /// The number of earlier offsets to read too, to recognise repeated events. Also the number of newest results to
    /// read without other information.
    public var window: Int64
    /// The wall clock time before which results are useless, for a partition without a committed offset.
    public var since: Instant?
    /// The offset to start from regardless of commits, to read further. Committed watermarks are then ignored, because
    /// they may belong to a former incarnation.
    public var offset: Int64?

    public init(window: Int64 = 0, since: Instant? = nil, offset: Int64? = nil) {
        self.window = window
        self.since = since
        self.offset = offset
    }
}

public struct RestoreEnd: Sendable, Hashable {
    public enum Basis: Sendable, Hashable {
        case committed, time
        /// No start was known, so only the newest results were read.
        case newest
    }
    /// The results partition's end as the restore saw it: results from here on are newer.
    public var offset: Int64
    /// The first offset that was read.
    public var start: Int64
    public var basis: Basis
    /// Results that the group still needs were deleted, so their events may be sent again.
    public var isCut = false
    /// The progress that the last owner of each source partition committed.
    public var progress: [TopicPartition: [SendProgress]] = [:]
    /// The number of the incarnation of each source partition (see `CommitNote`).
    public var incarnations: [TopicPartition: Int] = [:]

    public init(offset: Int64, start: Int64, basis: Basis) {
        self.offset = offset
        self.start = start
        self.basis = basis
    }
}
