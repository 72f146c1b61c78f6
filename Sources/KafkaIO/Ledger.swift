public import NewsModel

/// What a result record says about one delivery, read from its key and headers alone.
public struct LedgerEntry: Sendable, Hashable {
    /// Where the result stands in its partition.
    public var offset: Int64
    public var timestamp: Instant?
    /// The event id.
    public var key: [UInt8]?
    /// `nw-source`: topic/partition/offset/platform.
    public var source: [UInt8]
    /// `nw-outcome`.
    public var outcome: [UInt8]?
    /// `nw-version`.
    public var version: [UInt8]?

    public init(
        offset: Int64, timestamp: Instant? = nil, key: [UInt8]? = nil, source: [UInt8], outcome: [UInt8]? = nil,
        version: [UInt8]? = nil
    ) {
        self.offset = offset
        self.timestamp = timestamp
        self.key = key
        self.source = source
        self.outcome = outcome
        self.version = version
    }
}

/// Where reading the ledger begins: at the offset the group committed for the results partition, else at a time,
/// else at the end.
public struct RestoreStart: Sendable, Hashable {
    /// How many offsets before the committed one to read as well, to recognise repeated events.
    public var window: Int64
    /// Results before it are of no use; for a partition without a committed offset.
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
        /// Nothing to go by: earlier results, if there are any, were not read.
        case nothing
    }
    /// The results partition's end as the restore saw it: results from here on are newer.
    public var offset: Int64
    /// The first offset that was read.
    public var start: Int64
    public var basis: Basis

    public init(offset: Int64, start: Int64, basis: Basis) {
        self.offset = offset
        self.start = start
        self.basis = basis
    }
}
