public import EditorialControl
public import KafkaIO
public import KafkaModel
public import NewsModel
public import PublishEngine

/// The condition of a publisher at one moment, for health, metrics and the dashboard.
public struct ServiceStatus: Sendable {
    public var at: Instant
    public var startedAt: Instant
    /// The lanes in the order of the settings, which is also the tally's.
    public var lanes: [Lane]
    public var categories: [String]
    public var tally: Tally
    /// The distinct halts of all shards, the oldest first.
    public var halts: [Halt]
    /// The current limiter of each shard.
    public var limiters: [Limiter]
    /// The time for which each limiter has applied, in seconds, summed over the shards.
    public var limitedFor: [(limiter: Limiter, seconds: Double)]
    public var inFlight: Int
    public var concurrencyLimit: Int
    public var wire: HubWire
    /// Requests that the pace permits at once; `nil` if it is unlimited.
    public var tokens: Int?
    /// The configured rate of the whole group.
    public var rate: EngineSettings.Rate?
    /// Librdkafka's statistics of the producer; `nil` before the first.
    public var producer: KafkaStatistics?
    /// The number of errors reported by the Kafka clients, and the last one.
    public var kafkaErrors: UInt64
    public var lastKafkaError: KafkaFailure?
    /// Partitions whose offsets restarted, because a topic was recreated or truncated.
    public var restarts: UInt64
    /// Editors' orders; `nil` before the start.
    public var control: ControlStatus?
    /// Events on the held topic; `nil` if it cannot be read or does not exist.
    public var held: Held?
    /// Events that vanished from the held topic and could not be restored, since the start of the process.
    public var heldLost: Int
    /// Number of changes of the hub's key since the start of the process.
    public var keyChanges: UInt64
    /// Reasons for waiting, by lane, over all shards. Includes normal ones such as a pending retry.
    public var waits: [Waiting]
    /// The events that editors' stops hold back in this process.
    public var stopped: [StoppedNews]
    /// Reasons why some news cannot be sent now; empty when ready.
    public var notReady: [ReadinessReason]
    /// The reason to restart the process; `nil` if it is healthy.
    public var stuck: String?

    public struct Held: Sendable, Hashable {
        public var events: Int
        /// The held events that this process must return to their lanes.
        public var ours: Int
        /// The due time of the next of these events; `nil` without any.
        public var nextDue: Instant?
    }

    public struct Lane: Sendable {
        public var name: String
        public var topics: [String]
        /// The number of assigned partitions; `nil` before the first assignment.
        public var partitions: Int?
        public var isPaused: Bool
        /// True if the flood guard has stopped the lane on at least one shard.
        public var isFlooded: Bool
        public var buffered: Int
        public var bufferedBytes: Int
        public var window: LaneSettings.Window
        public var ready: Int
        public var delayed: Int
        /// Uncommitted records of assigned partitions at the last measurement; `nil` before the first, and while none is assigned.
        public var lag: Int64?
        /// The lag that cannot be read because it is behind an open transaction.
        public var hidden: Int64?
        /// The upper bound of the records that were removed from the lane's topics before they were read, since the start of the
        /// process.
        public var removedUnread: UInt64
        /// Librdkafka's statistics of the lane's consumer; `nil` before the first.
        public var consumer: KafkaStatistics?
        /// The age of the oldest record without an outcome. It is `nil` where `lag` is, and if no such record is known but a partition
        /// could not be measured.
        public var lagAge: Duration?
    }

    public struct Waiting: Sendable, Hashable {
        /// The lane's name; `nil` for all lanes.
        public var lane: String?
        public var reason: Wait.Reason
        public var duration: Duration
        public var detail: String
    }
}
