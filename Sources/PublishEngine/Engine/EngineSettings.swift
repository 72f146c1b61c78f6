public import NewsModel
public import NotificationHub

/// The settings of an engine. Bounds are checked where settings are read; the engine only clamps.
public struct EngineSettings: Sendable {
    /// The lanes, highest urgency first.
    public var lanes: [LaneSettings]
    /// The platforms that each event is delivered for, in order; `[.template]` in template mode.
    public var platforms: [Platform]
    public var resultsTopic: String
    /// The consumer group. Dead letters of other groups that return to a lane are skipped; `nil` to process them.
    public var group: String?
    /// The formats of events beside the built-in ones.
    public var formats = EventFormats()
    public var rate: Rate?
    /// Requests in flight at most; one connection each.
    public var connections: Int = 64
    public var retry = RetrySchedule()
    public var floodGuard = FloodGuard.Settings()
    /// Requests per delivery whose acceptance stays unknown before it ends as `unknown`.
    public var unknownAttempts: Int = 5
    /// The upper bound of a Retry-After.
    public var longestPause: Duration = .seconds(300)
    /// The age of results that are read back without a committed ledger offset.
    public var ledgerAge: Duration = .seconds(24 * 3600)
    /// Deliveries remembered per partition to recognise a second record with the same id and version.
    public var duplicateWindow: Int = 4096
    /// Records of all partitions whose results are known before they are read again; at least 2 for each partition.
    package var restoredMax = 16_384
    /// Least time between two commits of a lane.
    public var commitInterval: Duration = .milliseconds(200)
    /// The time a revoke waits for replies and results; well under the session timeout.
    public var revokeDeadline: Duration = .seconds(4)
    /// The time a shutdown waits for the same.
    public var drainDeadline: Duration = .seconds(35)
    /// While the hub is halted, the first probe waits this long; each failed one doubles it up to `probeLongest`.
    public var probeFirst: Duration = .seconds(2)
    public var probeLongest: Duration = .seconds(60)
    /// Events due later than this go to the held topic; `nil` without such a topic: they wait in the window.
    public var holdsBeyond: Duration?
    /// The hub is asked for the time before the first record expires or the first embargo ends.
    public var asksHubForTime = false
    /// Nothing is sent before editors' orders are known.
    public var awaitsOrders = false

    public init(lanes: [LaneSettings], platforms: [Platform], resultsTopic: String) {
        self.lanes = lanes
        self.platforms = platforms
        self.resultsTopic = resultsTopic
    }

    /// A pace for all processes of the group together.
    public struct Rate: Sendable, Hashable {
        public var perSecond: Int
        public var burst: Int

        public init(perSecond: Int, burst: Int) {
            self.perSecond = perSecond
            self.burst = burst
        }
    }
}

/// One lane: a set of topics with one urgency.
public struct LaneSettings: Sendable, Hashable {
    public var name: String
    public var topics: [String]
    /// Events whose record is older than this are not sent; `nil` for no limit.
    public var maxAge: Duration?
    /// Share of requests, in percent, that this lane gets even while more urgent lanes have work.
    public var floorPercent: Int = 0
    public var onUnknown: UnknownPolicy = .retry
    public var window = Window()

    public init(name: String, topics: [String], maxAge: Duration? = nil) {
        self.name = name
        self.topics = topics
        self.maxAge = maxAge
    }

    /// The policy for a request that may or may not have been accepted.
    public enum UnknownPolicy: String, Sendable, Hashable, CaseIterable {
        /// Prefers a duplicate to a loss: the repeat carries the same collapse id.
        case retry
        /// Prefers a loss to a duplicate.
        case giveUp
    }

    /// Records read and not yet stored as results: bounds memory.
    public struct Window: Sendable, Hashable {
        public var records: Int
        public var bytes: Int

        public init(records: Int = 2048, bytes: Int = 16 << 20) {
            self.records = records
            self.bytes = bytes
        }

        /// Reduces the bytes to one of `parts` equal shares, because the parts share the process's memory. The number of
        /// records stays, because with fewer a busy loop would wait until results are stored.
        public mutating func divideBytes(among parts: Int) { bytes = max(bytes / max(parts, 1), 1) }
    }
}
