public import HubIO
public import KafkaIO
public import NotificationHub
public import PublishEngine

/// The settings of one publisher process.
public struct PublisherSettings: Sendable {
    public var kafka: KafkaSettings
    public var engine: EngineSettings
    public var table: CategoryTable
    public var unroutable: UnroutablePolicy
    public var payload: PayloadSettings
    public var connection: ConnectionString
    public var hub: HubName
    public var limits: SenderLimits
    public var trustRoots: TrustRoots
    public var deadLetterTopic: String
    /// Event loops, each with its own engine, connections and partitions; at least 1.
    public var shards: Int
    /// Seeds the jitter of retries.
    public var seed: UInt64

    public static let standardShards = 1

    public init(
        kafka: KafkaSettings, engine: EngineSettings, table: CategoryTable = .standard,
        unroutable: UnroutablePolicy = .deadLetter, payload: PayloadSettings = PayloadSettings(),
        connection: ConnectionString, hub: HubName, limits: SenderLimits, trustRoots: TrustRoots = .system,
        deadLetterTopic: String, shards: Int = Self.standardShards, seed: UInt64 = .random(in: .min ... .max)
    ) {
        self.kafka = kafka
        self.engine = engine
        self.table = table
        self.unroutable = unroutable
        self.payload = payload
        self.connection = connection
        self.hub = hub
        self.limits = limits
        self.trustRoots = trustRoots
        self.deadLetterTopic = deadLetterTopic
        self.shards = shards
        self.seed = seed
    }
}
