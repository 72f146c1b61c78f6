import Backfill
import ByteText
import ControlIO
import Foundation
import HTTPServing
import HubEmulator
import HubIO
import HubModel
import HubServer
import KafkaIO
import KafkaModel
import Logging
import NIOPosix
import NewsModel
import NewswireSettings
import NotificationHub
import PublishEngine
import PublisherService
import StatusServer
import Synchronization

/// A whole newsroom in one process: a broker, a publisher and a hub.
struct Demo: Sendable {
    static let lane = "live"
    static let topic = "news.events"
    static let resultsTopic = "news.results"
    static let deadLettersTopic = "news.dead-letters"
    static let partitions = 4
    /// The time to read one sample before the next one is published.
    static let samplePause = Duration.seconds(4)

    /// The languages of the page's phones.
    static let localization = Localization(
        languages: [("en", "English"), ("fr", "French"), ("zh", "Mandarin")].map { .init(code: $0.0, name: $0.1) },
        fallback: ["en"])

    /// The kinds of interests that the page's phones may follow beside categories.
    static let interests = InterestTable(["team", "author", "story"].map { .init(name: $0) })

    let broker: EmbeddedBroker
    let hub: RunningHub
    let publisher: Publisher
    let status: RunningServer
    let kafka: KafkaSettings
    let results: ResultTally

    /// - Parameter listen: the hub's address; `nil` for port 8090 of this machine, or for any free port if that is in use.
    init(listen: NetworkAddress?, log: Logger) async throws {
        let orders = ControlTopics()
        broker = try EmbeddedBroker(
            topics: [Self.topic, Self.resultsTopic, Self.deadLettersTopic].map { ($0, Self.partitions) }
                + [(orders.control, 1), (orders.audit, 1), (orders.held, Self.partitions)])
        let kafka = broker.settings(group: "newswire-demo")
        self.kafka = kafka
        let (results, dashboard) = (ResultTally(), Link())
        self.results = results
        hub = try await Self.startHub(listen, dashboard) { story in
            try await Self.publish(story, to: kafka)
            results.expect(1)
        }
        let lanes = [LaneSettings(name: Self.lane, topics: [Self.topic])]
        let settings = PublisherSettings(
            kafka: kafka, engine: EngineSettings(lanes: lanes, platforms: [.template], resultsTopic: Self.resultsTopic),
            // The templates of the page's phones and of 'newswire device'.
            payload: PayloadSettings(templates: .standard, localization: Self.localization),
            policy: ContentPolicy(interests: Self.interests),
            connection: hub.connectionString, hub: hub.hubName, limits: SenderLimits(connections: 16),
            deadLetterTopic: Self.deadLettersTopic)
        publisher = try Publisher(settings: settings, log: log)
        publisher.metrics.onResult { results.add($0) }
        let clock = ServiceClock()
        let names = NamedTopics(
            results: Self.resultsTopic, held: orders.held,
            lanes: [.init(topic: Self.topic, group: kafka.group)])
        status = try await Self.serveStatus(
            of: publisher, ControlMonitor(kafka, orders, names: names) { clock.now }, log: log)
        let address = "http://127.0.0.1:\(status.port)/"
        dashboard.address.withLock { $0 = address }
    }

    /// The dashboard's address. The hub's page shows it, but it is known only after the hub has started.
    private final class Link: Sendable {
        let address = Mutex<String?>(nil)
    }

    private static func serveStatus(
        of publisher: Publisher, _ control: ControlMonitor, log: Logger
    ) async throws -> RunningServer {
        func start(_ settings: StatusServerSettings) async throws -> RunningServer {
            try await StatusServer(settings, publisher: publisher, control: control, log: log).start()
        }
        do {
            return try await start(StatusServerSettings())
        } catch {
            return try await start(StatusServerSettings(port: 0))
        }
    }

    private static func startHub(
        _ listen: NetworkAddress?, _ dashboard: Link, publish: @escaping @Sendable (ComposedStory) async throws -> Void
    ) async throws -> RunningHub {
        var settings = HubServerSettings(
            host: listen?.host ?? "127.0.0.1", port: listen?.port ?? 8090, hubName: try HubName("breaking-news"))
        settings.subscribesPhones = true
        settings.dashboard = { dashboard.address.withLock { $0 } }
        settings.publish = publish
        // Protects tags, as a newsroom's own back end would.
        settings.configure = { $0.protectsTags = true }
        do {
            return try await HubServer(settings).start()
        } catch {
            guard case .listen = error, listen == nil else { throw error }
            settings.port = 0
            return try await HubServer(settings).start()
        }
    }

    /// Publishes a story written on the page in the same way as all news.
    private static func publish(_ story: ComposedStory, to kafka: KafkaSettings) async throws {
        var event = NewsEvent(id: story.id, headline: story.headline)
        event.categories = [story.category]
        event.story = story.story
        event.language = story.language
        event.headlines = story.translations.map { .init(language: $0.language, text: $0.text) }
        var value: [UInt8] = []
        event.encode(into: &value)
        try await publish(ProducedRecord(topic: topic, key: Array(story.story.utf8), value: value), to: kafka)
    }

    private static func publish(_ record: ProducedRecord, to kafka: KafkaSettings) async throws {
        try await NIOThreadPool.singleton.runIfActive {
            let publisher = try RecordPublisher(settings: kafka)
            try publisher.publish(record)
            try publisher.flush()
        }
    }

    /// Publishes events to the topic, all at once. Blocks until the broker has stored them.
    ///
    /// - Parameters:
    ///   - path: a file of events; `nil` for the samples.
    ///   - stop: ends the reading of a file that has no end.
    /// - Returns: the number of events, and a message for each part of the file that is not an event.
    func feed(_ path: String?, until stop: StopFlag) throws -> (events: Int, bad: [String]) {
        let publisher = try RecordPublisher(settings: kafka, skipsRefused: true)
        var bad: [String] = []
        if let path {
            var publication = FilePublication(path: path, topic: Self.topic)
            let bar = ProgressBar(.standardError, at: .now)
            let summary = try publication.run(publisher, stop: stop, bar: bar) { bad.append($0) }
            bar.clear()
            if summary.bad > bad.count { bad.append("and \(grouped(summary.bad - bad.count)) more") }
        } else {
            for record in try Self.samples() { try publisher.publish(record) }
            try publisher.flush()
        }
        results.expect(publisher.acknowledged)
        return (publisher.acknowledged, bad)
    }

    /// Publishes the samples one after the other, at a pace that a reader of the page can follow.
    ///
    /// - Returns: false if it was cancelled before the end.
    func trickle() async throws -> Bool {
        let samples = try Self.samples()
        // Each category has three samples in a row. Taking every third sample gives each phone news soon.
        for first in 0..<3 {
            for record in stride(from: first, to: samples.count, by: 3).map({ samples[$0] }) {
                try await Self.publish(record, to: kafka)
                results.expect(1)
                guard (try? await Task.sleep(for: Self.samplePause)) != nil else { return false }
            }
        }
        return true
    }

    static func samples() throws -> [ProducedRecord] {
        let review = EventReview()
        var items: [EventFileItem] = []
        var splitter = EventFileSplitter(.ndjson)
        splitter.feed(Array(SampleEvents.ndjson.utf8)[...], into: &items)
        splitter.finish(into: &items)
        return try items.map { item in
            let (event, bytes) = try review.event(item).get()
            return review.record(event, bytes, topic: topic)
        }
    }

    /// Stops the servers, after the publisher has ended.
    func close() async {
        await status.stop()
        await hub.stop()
    }

    /// The page that shows the readers' phones.
    var page: String { "http://127.0.0.1:\(hub.port)/" }
}
