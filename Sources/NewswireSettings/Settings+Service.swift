import HubIO
import KafkaIO
import NotificationHub
import PublishEngine
import PublisherService

/// Settings in the words of the modules that use them.
extension Settings {
    var kafkaSettings: KafkaSettings {
        var properties: [String: String] = [:]
        for property in kafka.properties { properties[property.name] = property.value.revealed }
        var settings = KafkaSettings(
            bootstrapServers: kafka.bootstrapServers.map(\.description), group: kafka.group, instance: kafka.instance,
            properties: properties)
        // What is fetched ahead is bounded like what was read: memory is twice the windows, whatever the backlog.
        settings.fetchBudget = max(lanes.reduce(0) { $0 + $1.window.bytes }, 1 << 20)
        return settings
    }

    /// - Throws: what `check` has found already when these are checked settings.
    func connection() throws -> ConnectionString {
        try ConnectionString(parsing: hub.connectionString.revealed)
    }

    func hubName() throws -> HubName {
        if let name = hub.name { return try HubName(name) }
        guard let name = try connection().entityPath else { throw HubNameProblem.empty }
        return name
    }

    func categoryTable() throws -> CategoryTable {
        categories.isEmpty ? .standard : try CategoryTable(categories)
    }

    var senderLimits: SenderLimits {
        var limits = SenderLimits(connections: hub.connections)
        limits.connectTimeout = hub.connectTimeout
        limits.requestTimeout = hub.requestTimeout
        return limits
    }

    var trustRoots: TrustRoots { hub.trustRoots.map(TrustRoots.file) ?? .system }

    var engineSettings: EngineSettings {
        var engine = EngineSettings(lanes: lanes, platforms: payload.platforms, resultsTopic: resultsTopic)
        engine.rate = rate
        engine.connections = hub.connections
        engine.retry = retry
        engine.unknownAttempts = unknownAttempts
        engine.longestPause = longestPause
        engine.floodGuard = floodGuard
        engine.drainDeadline = shutdownDeadline
        return engine
    }

    /// - Parameter cores: how many shards `auto` means.
    func publisherSettings(cores: Int) throws -> PublisherSettings {
        PublisherSettings(
            kafka: kafkaSettings, engine: engineSettings, table: try categoryTable(), unroutable: unroutable,
            payload: payload, connection: try connection(), hub: try hubName(), limits: senderLimits,
            trustRoots: trustRoots, deadLetterTopic: deadLettersTopic, shards: shards ?? max(cores, 1))
    }
}
