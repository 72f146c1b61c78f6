package import HubEmulator
import HubIO
import HubModel
package import HubServer
package import KafkaIO
import Logging
import NotificationHub
package import PublishEngine
package import PublisherService
package import Tracing

/// A broker and a hub in this process, and the settings for publishers between them.
package struct Newsroom: Sendable {
    package static let hubName = "breaking-news"

    package let broker: EmbeddedBroker
    package let hub: RunningHub
    package let topics: Topics

    package var kafka: KafkaSettings { topics.kafka }

    package init(
        partitions: Int = 4, configureHub: @escaping @Sendable (inout HubSettings) -> Void = { _ in }
    ) async throws {
        broker = try EmbeddedBroker(topics: Topics.all(partitions: partitions))
        topics = Topics(kafka: broker.settings(group: "newsroom"), partitions: partitions)
        hub = try await Self.hub(configureHub)
    }

    /// Starts a hub on a free port.
    package static func hub(
        _ configure: @escaping @Sendable (inout HubSettings) -> Void = { _ in }
    ) async throws -> RunningHub {
        var settings = HubServerSettings(port: 0, hubName: try HubName(hubName))
        settings.configure = configure
        return try await HubServer(settings).start()
    }

    /// The settings of a publisher with one lane.
    package func settings(
        payload: PayloadSettings = PayloadSettings(), change: (inout PublisherSettings) -> Void = { _ in }
    ) throws -> PublisherSettings {
        var settings = PublisherSettings(
            kafka: kafka,
            engine: EngineSettings(
                lanes: [LaneSettings(name: "live", topics: [Topics.events])], platforms: payload.platforms,
                resultsTopic: Topics.results),
            payload: payload, connection: hub.connectionString, hub: try HubName(Self.hubName),
            limits: SenderLimits(connections: 16), deadLetterTopic: Topics.deadLetters)
        settings.engine.connections = 16
        change(&settings)
        return settings
    }

    /// A publisher without a log.
    package func publisher(_ settings: PublisherSettings, tracer: (any Tracer)? = nil) throws -> Publisher {
        try Publisher(settings: settings, log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, tracer: tracer)
    }

    package func close() async { await hub.stop() }
}
