public import EditorialControl
public import KafkaIO
public import KafkaModel
public import NewsModel
public import PublishEngine

/// The condition of a publisher at one moment, for health, metrics and the dashboard.
public struct ServiceStatus: Sendable {
    public var at: Instant
    public var startedAt: Instant
    /// In the order of the settings, as are the tally's.
    public var lanes: [Lane]
    public var categories: [String]
    public var tally: Tally
    /// The distinct halts of all shards, the oldest first.
    public var halts: [Halt]
    /// The present limiter of each shard.
    public var limiters: [Limiter]
    /// The time for which each has applied, in seconds, summed over the shards.
    public var limitedFor: [(limiter: Limiter, seconds: Double)]
    public var inFlight: Int
    public var concurrencyLimit: Int
    public var openConnections: Int
    /// Requests that the pace would allow at once; `nil` when it is unlimited.
    public var tokens: Int?
    /// The configured rate of the whole group.
    public var rate: EngineSettings.Rate?
    /// Librdkafka's statistics of the producer; `nil` before the first.
    public var producer: KafkaStatistics?
    /// Errors that Kafka clients reported, and the last of them.
    public var kafkaErrors: UInt64
    public var lastKafkaError: KafkaFailure?
    /// Partitions whose offsets started again: a topic was created again, or cut back.
    public var restarts: UInt64
    /// Editors' orders; `nil` before the start.
    public var control: ControlStatus?
    /// Events on the held topic; `nil` while it cannot be read, or there is none.
    public var held: Held?
    /// Events that vanished from the held topic and could not be restored, since the start.
    public var heldLost: Int
    /// Reasons why something does not move, by lane, over all shards; includes normal ones such as a waiting retry.
    public var waits: [Waiting]
    /// Reasons why some news cannot be sent now; empty when ready.
    public var notReady: [NotReady]
    /// The reason to restart the process; `nil` when it is healthy.
    public var stuck: String?

    public struct Held: Sendable, Hashable {
        public var events: Int
        /// Of those, the ones that this process is to put back.
        public var ours: Int
        /// When the next of them is due; `nil` if none waits.
        public var nextDue: Instant?
    }

    public struct Lane: Sendable {
        public var name: String
        public var topics: [String]
        /// `nil` before the first assignment.
        public var partitions: Int?
        public var isPaused: Bool
        /// The flood guard has stopped it, on one shard at least.
        public var isFlooded: Bool
        public var held: Int
        public var heldBytes: Int
        public var window: LaneSettings.Window
        public var ready: Int
        public var delayed: Int
        /// Uncommitted records of our partitions at the last measurement; `nil` before the first.
        public var lag: Int64?
        /// Those of them that cannot be read, because a transaction before them is open.
        public var hidden: Int64?
        /// Librdkafka's statistics of the lane's consumer; `nil` before the first.
        public var consumer: KafkaStatistics?
        /// The age of the oldest record without an outcome; `nil` as above.
        public var lagAge: Duration?
    }

    public struct Waiting: Sendable, Hashable {
        /// `nil` for all lanes.
        public var lane: String?
        public var reason: Wait.Reason
        public var duration: Duration
        public var detail: String
    }

    public struct NotReady: Sendable, Hashable {
        /// A stable word for programs, e.g. `hub-key-refused`.
        public var code: String
        public var detail: String
        /// The next step for an operator.
        public var remedy: String
        /// The lane it is about; `nil` for all.
        public var lane: String?
    }
}
