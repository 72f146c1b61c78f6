public import KafkaIO
public import KafkaModel
public import NewsModel
public import PublishEngine

/// How a publisher is at one moment: what health, metrics and the dashboard show.
public struct ServiceStatus: Sendable {
    public var at: Instant
    public var startedAt: Instant
    /// In the order of the settings, as are the tally's.
    public var lanes: [Lane]
    public var categories: [String]
    public var tally: Tally
    /// The distinct halts of all shards, the oldest first.
    public var halts: [Halt]
    /// What limits each shard.
    public var limiters: [Limiter]
    /// How long each held, in seconds, summed over the shards.
    public var limitedFor: [(limiter: Limiter, seconds: Double)]
    public var inFlight: Int
    public var concurrencyLimit: Int
    public var openConnections: Int
    /// Requests the pace would let out at once; `nil` when it is unlimited.
    public var tokens: Int?
    /// The configured rate of the whole group.
    public var rate: EngineSettings.Rate?
    /// What librdkafka counts about the producer; `nil` before it first did.
    public var producer: KafkaStatistics?
    /// Errors that Kafka clients told of, and the last of them.
    public var kafkaErrors: UInt64
    public var lastKafkaError: KafkaFailure?
    /// Partitions whose offsets started again: a topic was made anew, or cut back.
    public var restarts: UInt64
    /// Why something does not move, by lane, over all shards: also what is in order, as a retry that waits.
    public var waits: [Waiting]
    /// Why some news cannot be sent now; empty when ready.
    public var notReady: [NotReady]
    /// Why the process should be restarted; `nil` when it is healthy.
    public var stuck: String?

    public struct Lane: Sendable {
        public var name: String
        public var topics: [String]
        /// `nil` before the first assignment.
        public var partitions: Int?
        public var isPaused: Bool
        public var held: Int
        public var heldBytes: Int
        public var window: LaneSettings.Window
        public var ready: Int
        public var delayed: Int
        /// Records of our partitions that are not committed, by the last look; `nil` before the first.
        public var lag: Int64?
        /// What librdkafka counts about the lane's consumer; `nil` before it first did.
        public var consumer: KafkaStatistics?
        /// How old the oldest record is that has no outcome yet; `nil` as above.
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
        /// What a person should do.
        public var remedy: String
        /// The lane it is about; `nil` for all.
        public var lane: String?
    }
}
