package import Backfill
import ByteText
package import ControlIO
import EditorialControl
package import HubIO
package import HubModel
package import KafkaIO
package import KafkaModel
package import Logging
package import NewsModel
package import NotificationHub
package import PublishEngine
package import PublisherService
package import SchemaRegistry

/// Everything an operator may set, read and checked once, at start.
///
/// A component's settings are read straight into the component's own type. `SettingsKey.all` has each key with its
/// meaning, default and range.
package struct Settings: Sendable {
    /// Kafka's settings without librdkafka's properties; `kafkaSettings` includes them.
    var kafka: KafkaSettings
    /// librdkafka's properties in the file's order, with those from the environment last.
    var kafkaProperties: [SecretField]
    /// The engine's settings, with at least one lane.
    package var engine: EngineSettings
    package var deadLettersTopic: String
    package var registry: RegistrySettings?
    package var connectionString: Secret
    /// The hub's name; `nil` if the connection string names the hub.
    var hubName: String?
    package var sender: SenderLimits
    package var trustRoots: TrustRoots
    package var payload: PayloadSettings
    package var policy: ContentPolicy
    /// The categories, which are the six of the tutorials unless the file names others.
    package var categories: [CategoryTable.Category]
    package var unroutable: UnroutablePolicy
    /// The address of the status server; `nil` if it is off.
    package var listen: NetworkAddress?
    /// The token that lets callers from other machines act; `nil` if only this machine may act.
    package var token: Secret?
    /// The number of event loops; `nil` to choose it by the rate, the cores and the connections.
    package var shards: Int?
    package var tracing: Tracing
    package var ingest: IngestConfiguration
    /// The settings of editors' orders. Only `controlSettings()` knows its environment.
    package var control: ControlSettings
    package var telemetry: TelemetryConfiguration
    /// The prices for the cost that a dry run shows.
    package var prices: PushPrices
    package var logging: Logging

    package struct Tracing: Sendable {
        /// The collector's address; `nil` if tracing is off.
        package var endpoint: String?
        package var headers: [SecretField]
        package var sampledPercent: Int
    }

    package struct Logging: Sendable {
        package var level: Logger.Level
        package var format: Format

        package enum Format: String, Sendable, CaseIterable {
            /// Text on a terminal, JSON elsewhere.
            case auto
            case json, text
        }

        package init(level: Logger.Level = .info, format: Format = .auto) {
            self.level = level
            self.format = format
        }
    }
}

/// A name that may be shown, with a value that must not be shown.
package struct SecretField: Sendable {
    package var name: String
    package var value: Secret
}

/// A text that is shown only by `revealed`, never by a description or a log.
package struct Secret: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The text that is shown in place of a secret.
    package static let mask = "***"

    package let revealed: String

    package init(_ revealed: String) { self.revealed = revealed }

    package var description: String { Self.mask }
    package var debugDescription: String { Self.mask }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

// MARK: For the components

extension Settings {
    package var kafkaSettings: KafkaSettings {
        var settings = kafka
        if settings.login.source != nil {
            settings.properties = ["security.protocol": "SASL_SSL", "sasl.mechanisms": "OAUTHBEARER"]
        }
        for property in kafkaProperties { settings.properties[property.name] = property.value.revealed }
        return settings
    }

    package var schemaRegistry: SchemaRegistry? {
        registry.map { SchemaRegistry(url: $0.url, basicAuth: $0.basicAuth?.revealed) }
    }

    /// The decoders of commands, which wait for the schema registry.
    package var decoders: DecoderFactory {
        guard let registry = schemaRegistry else { return DecoderFactory(engine.formats) }
        return DecoderFactory(engine.formats) { id in registry.schemaNow(id) }
    }

    /// - Throws: never for settings that were checked.
    package func connection() throws -> ConnectionString {
        try ConnectionString(parsing: connectionString.revealed)
    }

    /// - Throws: never for settings that were checked.
    package func hub() throws -> HubName {
        if let hubName { return try HubName(hubName) }
        guard let name = try connection().entityPath else { throw HubNameProblem.empty }
        return name
    }

    /// - Throws: never for settings that were checked.
    package func categoryTable() throws -> CategoryTable { try CategoryTable(categories) }

    /// - Throws: never for settings that were checked.
    package func contentRules(unroutable: UnroutablePolicy? = nil) throws -> ContentRules {
        try ContentRules(
            table: try categoryTable(), unroutable: unroutable ?? self.unroutable, payload: payload, policy: policy)
    }

    /// - Parameter cores: the number of cores of the machine, which `shards: auto` uses.
    /// - Throws: never for settings that were checked.
    package func publisherSettings(cores: Int) throws -> PublisherSettings {
        var settings = PublisherSettings(
            kafka: kafkaSettings, engine: engine, table: try categoryTable(), unroutable: unroutable,
            payload: payload, policy: policy, connection: try connection(), hub: try hub(), limits: sender,
            trustRoots: trustRoots, deadLetterTopic: deadLettersTopic, control: try controlSettings(),
            shards: shards
                ?? PublisherSettings.suitableShards(
                    perSecond: engine.rate?.perSecond, cores: cores, connections: engine.connections))
        settings.registry = schemaRegistry
        return settings
    }

    /// - Throws: never for settings that were checked.
    package func controlSettings() throws -> ControlSettings {
        var control = control
        // A hub whose environment nobody names is production's, so that no process of another one joins.
        control.environment = HubEnvironment(
            name: policy.environment ?? ContentPolicy.production,
            host: try connection().endpoint.authority.asciiLowercased, hub: try hub().description,
            group: kafkaSettings.group, isImplied: policy.environment == nil)
        return control
    }

    package var topicRules: TopicRules {
        var rules = TopicRules(engine, deadLetterTopic: deadLettersTopic)
        if ingest.isConfigured { rules.feedStateTopic = ingest.stateTopic }
        if telemetry.isConfigured { rules.telemetryTopic = telemetry.topic }
        rules.follow(control)
        return rules
    }
}
