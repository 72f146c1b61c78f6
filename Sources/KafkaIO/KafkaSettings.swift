public import KafkaModel

/// The Kafka settings of one process.
public struct KafkaSettings: Sendable {
    /// `host:port` of some brokers; the rest are learned from them.
    public var bootstrapServers: [String]
    /// The consumer group of the first lane; lane `backfill` behind it joins `{group}.backfill`. Results carry it, so
    /// that two groups may share a results topic.
    public var group: String
    /// A name that outlives restarts, unique among the processes of the group. With it a restart within
    /// `session.timeout.ms` moves no partitions (static membership); without it the process leaves at once on close.
    public var instance: String?
    /// Any librdkafka property. It wins over ours, except where that would break a guarantee, which is an error.
    public var properties: [String: String]
    /// Bytes that all consumers together may fetch ahead of the shards.
    public var fetchBudget = 24 << 20
    /// Bytes of records that may wait in the producer; beyond it `produce` returns `false`.
    public var produceBudget = 16 << 20
    /// The time the producer takes to gather a batch, in milliseconds.
    public var lingerMilliseconds = 10
    /// The largest batch that the topics accept which a producer writes to; `nil` if that is not known. See `limitingBatches(to:_:)`.
    public var batchBytes: Int?
    /// The longest time a revoke waits for the shards to release; then the partitions are given up without them.
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

    /// These settings with batches small enough for every one of the topics. A topic whose limit is not known counts for nothing.
    public func limitingBatches(to topics: [String], _ states: [String: TopicState]) -> KafkaSettings {
        var settings = self
        settings.batchBytes = topics.compactMap { states[$0]?.configuration.messageBytes }.min()
        return settings
    }

    /// The limit for the producers' batches: `batchBytes`, the property `batch.size`, or librdkafka's own, whichever is least.
    var batchBytesMax: Int? {
        guard let batchBytes else { return nil }
        return max(min(batchBytes, properties["batch.size"].flatMap { Int($0) } ?? Self.usualBatchBytes), 1)
    }

    private static let usualBatchBytes = 1_000_000

    /// Every property that would break a guarantee, in the order of their names.
    public var refusedProperties: [KafkaFailure] {
        properties.sorted { $0.key < $1.key }.compactMap { name, value in
            guard let rule = Self.rules[name], !rule.allowed.contains(value.lowercased()) else { return nil }
            return .configuration("kafka.properties must not set \(name)", remedy: rule.reason)
        }
    }

    /// In milliseconds: often enough for any scrape.
    static let statisticsInterval = "5000"

    /// Properties that librdkafka does not know, or whose values it does not take, in the order of their names.
    public var misfitProperties: [KafkaFailure] {
        properties.sorted { $0.key < $1.key }.compactMap { RdConfiguration.refusal($0.key, $0.value) }
    }

    /// Lanes have groups of their own, as each commits where its ledger begins for the same results partitions.
    ///
    /// - Parameters:
    ///   - lane: its place in the settings.
    ///   - name: its name.
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
            "partition.assignment.strategy": Rule(allowed: ["range"], reason: partitions),
            "group.protocol": Rule(allowed: ["classic"], reason: partitions),
            "enable.idempotence": Rule(allowed: ["true"], reason: order),
            "acks": Rule(allowed: ["all", "-1"], reason: order),
            "request.required.acks": Rule(allowed: ["all", "-1"], reason: order),
            "transactional.id": Rule(reason: "Newswire uses no transactions."),
            "allow.auto.create.topics": Rule(
                allowed: ["false"], reason: "Topics are made by `newswire topics --create`, with the right sizes."),
            "log.queue": Rule(allowed: ["true"], reason: "Logs are read from librdkafka's queue."),
        ]
    }()
}
