public import KafkaModel

/// The Kafka settings of one process.
public struct KafkaSettings: Sendable {
    /// `host:port` of some brokers, which report the others.
    public var bootstrapServers: [String]
    /// The consumer group of the first lane. A further lane `backfill` joins `{group}.backfill`. Results carry the group, so
    /// that two groups may share a results topic.
    public var group: String
    /// A name that persists across restarts, unique in the group. With it, a restart within `session.timeout.ms` moves no
    /// partitions (static membership). Without it, the process leaves the group at once on close.
    public var instance: String?
    /// librdkafka properties. They override ours; a property that would break a guarantee is an error.
    public var properties: [String: String]
    /// The login of all clients that are made with these settings and their copies.
    public var login = KafkaLogin()
    /// Number of bytes that all consumers together may fetch ahead of the shards.
    public var fetchBudget = 24 << 20
    /// Number of bytes of records that may wait in the producer. Beyond it, `produce` returns `false`.
    public var produceBudget = 16 << 20
    /// Time for which the producer gathers a batch, in milliseconds.
    public var lingerMilliseconds = 10
    /// The largest batch that a producer's topics accept; `nil` if unknown. See `limitingBatches(to:_:)`.
    public var batchBytes: Int?
    /// The longest time a revocation waits for the shards. After it, the partitions are revoked without them.
    public var releaseTimeout: Duration = .seconds(60)
    /// The longest time `close` waits for the broker to acknowledge the records in the producer.
    public var flushTimeout: Duration = .seconds(5)

    public init(
        bootstrapServers: [String], group: String, instance: String? = nil, properties: [String: String] = [:]
    ) {
        self.bootstrapServers = bootstrapServers
        self.group = group
        self.instance = instance
        self.properties = properties
    }

    /// Returns these settings with batches small enough for all the topics. Topics with unknown limits are ignored.
    public func limitingBatches(to topics: [String], _ states: [String: TopicState]) -> KafkaSettings {
        var settings = self
        settings.batchBytes = topics.compactMap { states[$0]?.configuration.messageBytes }.min()
        return settings
    }

    /// The limit for the producers' batches: the lowest of `batchBytes`, the property `batch.size` and librdkafka's default.
    var batchBytesMax: Int? {
        guard let batchBytes else { return nil }
        return max(min(batchBytes, properties["batch.size"].flatMap { Int($0) } ?? Self.usualBatchBytes), 1)
    }

    private static let usualBatchBytes = 1_000_000

    /// Every property that would break a guarantee, sorted by name.
    public var refusedProperties: [KafkaFailure] {
        properties.sorted { $0.key < $1.key }.compactMap { name, value in
            guard let rule = Self.rules[name], !rule.allowed.contains(value.lowercased()) else { return nil }
            return .configuration("kafka.properties must not set \(name)", remedy: rule.reason)
        }
    }

    /// Interval of the statistics in milliseconds; often enough for any scrape.
    static let statisticsInterval = "5000"

    /// Properties that librdkafka does not know or whose values it rejects, sorted by name.
    public var misfitProperties: [KafkaFailure] {
        properties.sorted { $0.key < $1.key }.compactMap { RdConfiguration.refusal($0.key, $0.value) }
    }

    /// Returns a lane's group. Lanes have separate groups, because each commits its ledger's start on shared results partitions.
    ///
    /// - Parameters:
    ///   - lane: the lane's index in the settings.
    ///   - name: the lane's name.
    public func consumerGroup(lane: Int, named name: String) -> String { lane == 0 ? group : "\(group).\(name)" }

    private struct Rule {
        var allowed: [String] = []
        var reason: String
    }

    private static let rules: [String: Rule] = {
        let commits = "Newswire commits an offset only after its results are stored."
        let order = "The results are the ledger: they must be stored once, in order, on every in-sync replica."
        let partitions = "Partition p of all topics of a lane must be read by one member, which only `range` ensures."
        return [
            "bootstrap.servers": Rule(reason: "Use kafka.bootstrapServers."),
            "metadata.broker.list": Rule(reason: "Use kafka.bootstrapServers."),
            "group.id": Rule(reason: "Use kafka.group."),
            "group.instance.id": Rule(reason: "Use kafka.instance."),
            "enable.auto.commit": Rule(allowed: ["false"], reason: commits),
            "auto.commit.enable": Rule(allowed: ["false"], reason: commits),
            "enable.auto.offset.store": Rule(allowed: ["false"], reason: commits),
            "enable.partition.eof": Rule(allowed: ["true"], reason: "The end of a partition must be seen."),
            "auto.offset.reset": Rule(
                allowed: ["earliest", "smallest", "beginning"],
                reason: "News would be skipped where no offset is committed. A lane's maxAge ends old news."),
            "partition.assignment.strategy": Rule(allowed: ["range"], reason: partitions),
            "group.protocol": Rule(allowed: ["classic"], reason: partitions),
            "enable.idempotence": Rule(allowed: ["true"], reason: order),
            "acks": Rule(allowed: ["all", "-1"], reason: order),
            "request.required.acks": Rule(allowed: ["all", "-1"], reason: order),
            "transactional.id": Rule(reason: "Newswire uses no transactions."),
            "allow.auto.create.topics": Rule(
                allowed: ["false"], reason: "Topics are made by `newswire topics --create`, with the right sizes."),
            "isolation.level": Rule(
                allowed: ["read_committed"], reason: "News of transactions that were aborted must not be sent."),
            "topic.blacklist": Rule(reason: "It hides topics that Newswire reads or writes."),
            "test.mock.num.brokers": Rule(reason: "It replaces the brokers with a mock."),
            "log.queue": Rule(allowed: ["true"], reason: "Logs are read from librdkafka's queue."),
        ]
    }()
}
