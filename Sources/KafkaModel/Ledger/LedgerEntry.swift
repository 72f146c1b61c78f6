public import NewsModel

/// What a record on the results topic says about one delivery, read from its key and headers alone.
public struct LedgerEntry: Sendable, Hashable {
    /// Where the result stands in its partition.
    public var offset: Int64
    public var source: ResultRecord.Source
    public var platform: Platform
    /// `nil` when the header is missing or names an outcome of a later version: the delivery is settled all the same.
    public var outcome: Outcome?
    /// Whose result it is. Together with the coordinates it names a delivery for good: coordinates alone come again when a
    /// topic is deleted and made again.
    public var identity: RecordIdentity
    /// `nil` for a record without one.
    public var eventID: String?
    public var version: String?
    /// Whether the record may be read again (it stands at or above the group's committed offset, or there is none). Other
    /// entries only help to recognise duplicates.
    public var isOpen = true

    public init(
        offset: Int64, source: ResultRecord.Source, platform: Platform, outcome: Outcome?, identity: RecordIdentity,
        eventID: String? = nil, version: String? = nil, isOpen: Bool = true
    ) {
        self.offset = offset
        self.source = source
        self.platform = platform
        self.outcome = outcome
        self.identity = identity
        self.eventID = eventID
        self.version = version
        self.isOpen = isOpen
    }

    /// - Parameters:
    ///   - key: the result's key: the event id, or the coordinates of a record without one.
    ///   - group: whose results count. A result that names no group is taken for ours: to send twice is worse.
    ///   - header: the last header of a name.
    /// - Returns: `nil` for a record that is no result, or another group's.
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
            identity: identity ?? RecordIdentity(eventID: key), eventID: eventID, version: text(HeaderName.version))
    }
}

/// Where reading the ledger begins: at the offset the group committed for the results partition, else at a time, else at
/// the newest results.
public struct RestoreStart: Sendable, Hashable {
    /// How many offsets before that to read as well, to recognise repeated events; also how many of the newest results are
    /// read where there is nothing else to go by.
    public var window: Int64
    /// Results before it are of no use; for a partition without a committed offset. By the wall clock.
    public var since: Instant?

    public init(window: Int64 = 0, since: Instant? = nil) {
        self.window = window
        self.since = since
    }
}

/// How a restore ended.
public struct RestoreEnd: Sendable, Hashable {
    public enum Basis: Sendable, Hashable {
        case committed, time
        /// Nothing to go by: only the newest results were read.
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
