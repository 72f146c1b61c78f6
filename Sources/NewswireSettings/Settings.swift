import PublishEngine

/// Everything an operator may set, read and checked once, at start.
///
/// `SettingsKey.all` has each key with its meaning, default and range.
struct Settings: Sendable {
    var kafka: Kafka
    /// Highest urgency first; never empty.
    var lanes: [LaneSettings]
    var resultsTopic: String
    var deadLettersTopic: String
    var hub: Hub
    var retry: RetrySchedule
    var unknownAttempts: Int
    var longestPause: Duration
    var payload: PayloadSettings
    /// `nil` for unlimited.
    var rate: EngineSettings.Rate?
    /// Empty for the six of the tutorials.
    var categories: [CategoryTable.Category]
    var unroutable: UnroutablePolicy
    /// `nil` when switched off.
    var listen: NetworkAddress?
    /// Lets callers from elsewhere act; `nil` keeps that to this machine.
    var token: Secret?
    /// `nil` for one per core.
    var shards: Int?
    var shutdownDeadline: Duration
    var floodGuard: FloodGuard.Settings
    var tracing: Tracing
    var logging: Logging

    struct Kafka: Sendable {
        /// Never empty.
        var bootstrapServers: [NetworkAddress]
        var group: String
        var instance: String?
        /// In the file's order, those from the environment last.
        var properties: [Property]

        struct Property: Sendable {
            var name: String
            var value: Secret
        }
    }

    struct Hub: Sendable {
        var connectionString: Secret
        /// `nil` when the connection string names the hub.
        var name: String?
        var connections: Int
        var requestTimeout: Duration
        var connectTimeout: Duration
        var trustRoots: String?
    }

    struct Tracing: Sendable {
        /// `nil` when switched off.
        var endpoint: String?
        var headers: [Kafka.Property]
        var sampledPercent: Int
    }

    struct Logging: Sendable {
        var level: String
        var format: String
    }
}

/// A text that shows only when asked by name, never in a description or a log.
struct Secret: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    let revealed: String

    init(_ revealed: String) {
        self.revealed = revealed
    }

    var description: String { EffectiveSetting.mask }
    var debugDescription: String { EffectiveSetting.mask }
    var customMirror: Mirror { Mirror(self, children: []) }
}
