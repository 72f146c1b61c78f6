import ByteText
package import ControlIO
import EditorialControl
package import HubIO
package import KafkaIO
package import KafkaModel
package import Logging
package import NotificationHub
package import PublishEngine
package import PublisherService

/// Everything an operator may set, read and checked once, at start.
///
/// A component's settings are read straight into the component's own type. `SettingsKey.all` has each key with its
/// meaning, default and range.
package struct Settings: Sendable {
    /// Without librdkafka's properties; `kafkaSettings` includes them.
    var kafka: KafkaSettings
    /// In the file's order, those from the environment last.
    var kafkaProperties: [SecretField]
    /// With at least one lane.
    package var engine: EngineSettings
    package var deadLettersTopic: String
    package var connectionString: Secret
    /// `nil` when the connection string names the hub.
    var hubName: String?
    package var sender: SenderLimits
    package var trustRoots: TrustRoots
    package var payload: PayloadSettings
    package var policy: ContentPolicy
    /// The six of the tutorials unless the file names others.
    package var categories: [CategoryTable.Category]
    package var unroutable: UnroutablePolicy
    /// `nil` when switched off.
    package var listen: NetworkAddress?
    /// Lets callers from other machines act; `nil` leaves that to this machine.
    package var token: Secret?
    /// `nil` for one per core.
    package var shards: Int?
    package var tracing: Tracing
    package var ingest: IngestConfiguration
    /// How editors' orders are followed. Its environment is known to `publisherSettings` alone.
    package var control: ControlSettings
    package var telemetry: TelemetryConfiguration
    /// For the cost that a dry run shows.
    package var prices: PushPrices
    package var logging: Logging

    package struct Tracing: Sendable {
        /// `nil` when switched off.
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

/// A name that may be shown with a value that may not.
package struct SecretField: Sendable {
    package var name: String
    package var value: Secret
}

/// A text that is shown only by `revealed`, never by a description or a log.
package struct Secret: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Shown in its place.
    package static let mask = "***"

    package let revealed: String

    package init(_ revealed: String) {
        self.revealed = revealed
    }

    package var description: String { Self.mask }
    package var debugDescription: String { Self.mask }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

// MARK: For the components

extension Settings {
    package var kafkaSettings: KafkaSettings {
        var settings = kafka
        for property in kafkaProperties { settings.properties[property.name] = property.value.revealed }
        return settings
    }

    /// - Throws: nothing for checked settings.
    package func connection() throws -> ConnectionString {
        try ConnectionString(parsing: connectionString.revealed)
    }

    /// - Throws: nothing for checked settings.
    package func hub() throws -> HubName {
        if let hubName { return try HubName(hubName) }
        guard let name = try connection().entityPath else { throw HubNameProblem.empty }
        return name
    }

    /// - Throws: nothing for checked settings.
    package func categoryTable() throws -> CategoryTable {
        try CategoryTable(categories)
    }

    /// - Parameter cores: those of the machine, by which `shards: auto` goes.
    /// - Throws: nothing for checked settings.
    package func publisherSettings(cores: Int) throws -> PublisherSettings {
        PublisherSettings(
            kafka: kafkaSettings, engine: engine, table: try categoryTable(), unroutable: unroutable,
            payload: payload, policy: policy, connection: try connection(), hub: try hub(), limits: sender,
            trustRoots: trustRoots, deadLetterTopic: deadLettersTopic, control: try controlSettings(),
            shards: shards
                ?? PublisherSettings.suitableShards(
                    perSecond: engine.rate?.perSecond, cores: cores, connections: engine.connections))
    }

    /// - Throws: nothing for checked settings.
    package func controlSettings() throws -> ControlSettings {
        var control = control
        if let name = policy.environment {
            control.environment = HubEnvironment(
                name: name, host: try connection().endpoint.authority.asciiLowercased, hub: try hub().description)
        }
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
