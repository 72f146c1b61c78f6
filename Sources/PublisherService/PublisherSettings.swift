public import ControlIO
public import HubIO
public import HubModel
public import KafkaIO
public import NotificationHub
public import PublishEngine
public import SchemaRegistry

/// The settings of one publisher process.
public struct PublisherSettings: Sendable {
    public var kafka: KafkaSettings
    public var engine: EngineSettings
    public var table: CategoryTable
    public var unroutable: UnroutablePolicy
    public var payload: PayloadSettings
    public var policy: ContentPolicy
    public var connection: ConnectionString
    /// Reads the connection string again after the hub has refused its key; `nil` as a result if that is not possible. Called on a
    /// thread that may block.
    public var readConnection: (@Sendable () -> ConnectionString?)?
    public var hub: HubName
    public var limits: SenderLimits
    public var trustRoots: TrustRoots
    public var deadLetterTopic: String
    public var control: ControlSettings
    /// `nil` without one. All shards share it.
    public var registry: SchemaRegistry?
    /// The number of event loops, at least 1. Each has its own engine, connections and partitions.
    public var shards: Int
    /// The seed for the jitter of retries.
    public var seed: UInt64

    public static let standardShards = 1

    /// The number of shards that suits a pace and a machine.
    ///
    /// One shard handles tens of thousands of requests per second, and has the whole pace and all connections for any
    /// partition. More are useful only for a higher pace. There is then one for every two cores, at most eight, the number
    /// that one Kafka thread feeds. The other cores serve Kafka and TLS; event loops that compete for a core write smaller
    /// groups of requests, which cost this process and the hub more.
    /// - Parameter perSecond: the pace; `nil` for unlimited.
    public static func suitableShards(perSecond: Int?, cores: Int, connections: Int) -> Int {
        if let perSecond, perSecond <= 10_000 { return standardShards }
        return max(1, min(8, cores / 2, connections))
    }

    public init(
        kafka: KafkaSettings, engine: EngineSettings, table: CategoryTable = .standard,
        unroutable: UnroutablePolicy = .deadLetter, payload: PayloadSettings = PayloadSettings(),
        policy: ContentPolicy = ContentPolicy(), connection: ConnectionString, hub: HubName, limits: SenderLimits,
        trustRoots: TrustRoots = .system,
        deadLetterTopic: String, control: ControlSettings = ControlSettings(), shards: Int = Self.standardShards,
        seed: UInt64 = .random(in: .min ... .max)
    ) {
        self.kafka = kafka
        self.engine = engine
        self.table = table
        self.unroutable = unroutable
        self.payload = payload
        self.policy = policy
        self.connection = connection
        self.hub = hub
        self.limits = limits
        self.trustRoots = trustRoots
        self.deadLetterTopic = deadLetterTopic
        self.control = control
        self.shards = shards
        self.seed = seed
    }
}

/// The version of the running program.
public enum ServiceVersion {
    public static let text = "0.1.0"
}
