public import NewsModel

/// A record of the results topic: the end of one delivery, read from its key and headers alone.
public struct LedgerEntry: Sendable, Hashable {
    /// The result's offset in its partition.
    public var offset: Int64
    public var source: ResultRecord.Source
    public var platform: Platform
    /// `nil` when the header is missing or names an outcome of a later version: the delivery is settled all the same.
    public var outcome: Outcome?
    /// The record it is about. Together with the coordinates this names a delivery for good: coordinates alone come again when a
    /// topic is deleted and created again.
    public var identity: RecordIdentity
    /// `nil` for a record without one.
    public var eventID: String?
    public var version: String?
    /// The story of a version that left, or may have; `nil` if the event names none.
    public var story: String?
    /// The record may be read again (it stands at or above the group's committed offset, or there is none). Other entries only
    /// help to recognise duplicates.
    public var isOpen = true

    public init(
        offset: Int64, source: ResultRecord.Source, platform: Platform, outcome: Outcome?, identity: RecordIdentity,
        eventID: String? = nil, version: String? = nil, story: String? = nil, isOpen: Bool = true
    ) {
        self.offset = offset
        self.source = source
        self.platform = platform
        self.outcome = outcome
        self.identity = identity
        self.eventID = eventID
        self.version = version
        self.story = story
        self.isOpen = isOpen
    }

    /// - Parameters:
    ///   - key: the result's key: the event id, or the coordinates of a record without one.
    ///   - group: the group whose results count. A result that names no group counts as ours: sending twice would be worse.
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
            story: text(HeaderName.story))
    }
}

/// The start of reading the ledger: the offset the group committed for the results partition, else a time, else the newest
/// results.
public struct RestoreStart: Sendable, Hashable {
    /// The number of offsets before that to read as well, to recognise repeated events; also the number of the newest results to
    /// read if nothing else is known.
    public var window: Int64
    /// Results before this time are of no use, for a partition without a committed offset. By the wall clock.
    public var since: Instant?
    /// From there on, whatever the group has committed: what was read before is read on. The watermarks committed do not count
    /// then, as they may be about a former incarnation of the partitions.
    public var offset: Int64?

    public init(window: Int64 = 0, since: Instant? = nil, offset: Int64? = nil) {
        self.window = window
        self.since = since
        self.offset = offset
    }
}

/// The end of a restore.
public struct RestoreEnd: Sendable, Hashable {
    public enum Basis: Sendable, Hashable {
        case committed, time
        /// Nothing was known: only the newest results were read.
        case newest
    }
    /// The results partition's end as the restore saw it: results from here on are newer.
    public var offset: Int64
    /// The first offset that was read.
    public var start: Int64
    public var basis: Basis
    /// Results were deleted that the group still needs: what they settled may be sent again.
    public var isCut = false

    public init(offset: Int64, start: Int64, basis: Basis) {
        self.offset = offset
        self.start = start
        self.basis = basis
    }
}
