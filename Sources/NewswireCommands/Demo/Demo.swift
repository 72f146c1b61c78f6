import ByteText
import Foundation
import HTTPServing
import HubIO
import HubServer
import KafkaIO
import KafkaModel
import Logging
import NIOPosix
import NewsModel
import NotificationHub
import PublishEngine
import PublisherService
import StatusServer

/// A whole newsroom in one process: a broker, a publisher and a hub.
struct Demo: Sendable {
    static let lane = "live"
    static let topic = "news.events"
    static let resultsTopic = "news.results"
    static let deadLettersTopic = "news.dead-letters"
    static let partitions = 4

    let broker: EmbeddedBroker
    let hub: RunningHub
    let publisher: Publisher
    let status: RunningServer
    let kafka: KafkaSettings
    let results = ResultTally()

    /// - Parameter port: the hub's; `nil` for 8090, or any free one if that is in use.
    init(port: Int?, log: Logger) async throws {
        broker = try EmbeddedBroker(
            topics: [Self.topic, Self.resultsTopic, Self.deadLettersTopic].map { ($0, Self.partitions) })
        let kafka = broker.settings(group: "newswire-demo")
        self.kafka = kafka
        hub = try await Self.startHub(port: port) { try await Self.publish($0, to: kafka) }
        let lanes = [LaneSettings(name: Self.lane, topics: [Self.topic])]
        let settings = PublisherSettings(
            kafka: kafka, engine: EngineSettings(lanes: lanes, platforms: [.template], resultsTopic: Self.resultsTopic),
            connection: hub.connectionString, hub: hub.address.hubName, limits: SenderLimits(connections: 16),
            deadLetterTopic: Self.deadLettersTopic)
        publisher = try Publisher(settings: settings, log: log)
        publisher.telemetry.onResult { [results] in results.add($0) }
        status = try await Self.serveStatus(of: publisher, log: log)
    }

    private static func serveStatus(of publisher: Publisher, log: Logger) async throws -> RunningServer {
        do {
            return try await StatusServer(StatusServerSettings(), publisher: publisher, log: log).start()
        } catch {
            return try await StatusServer(StatusServerSettings(port: 0), publisher: publisher, log: log).start()
        }
    }

    private static func startHub(
        port: Int?, publish: @escaping @Sendable (ComposedStory) async throws -> Void
    ) async throws -> RunningHub {
        if let port { return try await HubServer(hubSettings(port: port, publish: publish)).start() }
        do {
            return try await HubServer(hubSettings(port: 8090, publish: publish)).start()
        } catch HubServerProblem.listen {
            return try await HubServer(hubSettings(port: 0, publish: publish)).start()
        }
    }

    private static func hubSettings(
        port: Int, publish: @escaping @Sendable (ComposedStory) async throws -> Void
    ) throws -> HubServerSettings {
        var settings = HubServerSettings(port: port, hubName: try HubName("breaking-news"))
        settings.publish = publish
        return settings
    }

    /// A story written on the page takes the same path as all news.
    private static func publish(_ story: ComposedStory, to kafka: KafkaSettings) async throws {
        var event = NewsEvent(id: story.id, headline: story.headline)
        event.categories = [story.category]
        event.story = story.story
        var value: [UInt8] = []
        event.encode(into: &value)
        let record = ProducedRecord(topic: topic, key: Array(story.story.utf8), value: value)
        try await NIOThreadPool.singleton.runIfActive {
            let publisher = try RecordPublisher(settings: kafka)
            try publisher.publish(record)
            try publisher.flush()
        }
    }

    /// Puts events on the topic. Blocks until the broker has them.
    ///
    /// - Parameter path: a file of events; `nil` for the samples.
    /// - Returns: the number of events, and a message for each part of the file that is not one.
    func feed(_ path: String?) throws -> (events: Int, bad: [String]) {
        let publisher = try RecordPublisher(settings: kafka, skipsRefused: true)
        var bad: [String] = []
        if let path {
            let publication = FilePublication(path: path, topic: Self.topic)
            var bar = ProgressBar(.standardError, at: .now)
            let summary = try publication.run(publisher, stop: StopFlag(), report: { bad.append($0) }, bar: &bar)
            bar.clear()
            if summary.bad > bad.count { bad.append("and \(grouped(summary.bad - bad.count)) more") }
        } else {
            let review = EventReview()
            var items: [EventFileItem] = []
            var splitter = EventFileSplitter(.ndjson)
            splitter.feed(SampleEvents.ndjson.utf8, into: &items)
            splitter.finish(into: &items)
            for item in items { try publisher.publish(try review.record(item, topic: Self.topic).get()) }
            try publisher.flush()
        }
        return (publisher.acknowledged, bad)
    }

    /// Stops the servers, after the publisher has ended.
    func close() async {
        await status.stop()
        await hub.stop()
    }

    /// The page that shows a reader's phone.
    var page: String { "http://127.0.0.1:\(hub.port)/" }
}
