import Foundation
import HubEmulator
import HubIO
import HubServer
import KafkaIO
import KafkaModel
import Logging
import NewsModel
import NotificationHub
import PublishEngine
import PublisherService

/// A broker and a hub in this process, and publishers between them.
struct Newsroom {
    static let topic = "news.events"
    static let resultsTopic = "news.results"
    static let deadLetterTopic = "news.dead-letters"

    let broker: EmbeddedBroker
    let hub: RunningHub
    let kafka: KafkaSettings
    private let partitions: Int

    init(partitions: Int = 4, configureHub: @escaping @Sendable (inout HubSettings) -> Void = { _ in }) async throws {
        self.partitions = partitions
        broker = try EmbeddedBroker(
            topics: [Self.topic, Self.resultsTopic, Self.deadLetterTopic].map { ($0, partitions) })
        var settings = HubServerSettings(port: 0, hubName: try HubName("breaking-news"))
        settings.configure = configureHub
        hub = try await HubServer(settings).start()
        kafka = broker.settings(group: "newsroom")
    }

    func settings(
        payload: PayloadSettings = PayloadSettings(), change: (inout PublisherSettings) -> Void = { _ in }
    ) throws -> PublisherSettings {
        let lanes = [LaneSettings(name: "live", topics: [Self.topic])]
        var settings = PublisherSettings(
            kafka: kafka,
            engine: EngineSettings(lanes: lanes, platforms: payload.platforms, resultsTopic: Self.resultsTopic),
            payload: payload, connection: hub.connectionString, hub: try HubName("breaking-news"),
            limits: SenderLimits(connections: 16), deadLetterTopic: Self.deadLetterTopic)
        settings.engine.connections = 16
        change(&settings)
        return settings
    }

    func publisher(_ settings: PublisherSettings) throws -> Publisher {
        var log = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        log.logLevel = .critical
        return try Publisher(settings: settings, log: log)
    }

    /// Puts records on the source topic, partition after partition.
    func publish(_ records: [(key: [UInt8]?, value: [UInt8]?, headers: [RecordHeader])]) throws {
        let publisher = try RecordPublisher(settings: kafka)
        for (index, record) in records.enumerated() {
            try publisher.publish(
                ProducedRecord(
                    topic: Self.topic, partition: Int32(index % partitions), key: record.key, value: record.value,
                    headers: record.headers))
        }
        try publisher.flush()
    }

    func publish(_ events: [NewsEvent]) throws {
        try publish(
            events.map { event in
                var value: [UInt8] = []
                event.encode(into: &value)
                return (Array(event.id.utf8), value, [])
            })
    }

    func results() throws -> [ResultRecord] {
        try read(Self.resultsTopic).map { try ResultRecord(decoding: $0.record.value ?? []) }
    }

    func deadLetters() throws -> [SourceRecord] { try read(Self.deadLetterTopic).map(\.record) }

    func read(_ topic: String) throws -> [TopicReader.ReadRecord] {
        let reader = try TopicReader(settings: kafka, topic: topic)
        var records: [TopicReader.ReadRecord] = []
        while !reader.isAtEnd { records += try reader.next() }
        return records
    }

    func close() async { await hub.stop() }
}

extension Newsroom {
    /// The folder of real news, where there is one.
    static var testData: URL? {
        ProcessInfo.processInfo.environment["NEWSWIRE_TEST_DATA"].map { URL(fileURLWithPath: $0) }
    }

    static let withoutTestData = "set NEWSWIRE_TEST_DATA to a folder with ag_news.csv and ninjs/ to run this"

    /// The rows of `ag_news.csv` as events.
    static func agNews() throws -> [NewsEvent] {
        guard let testData else { return [] }
        let categories = ["1": "World", "2": "Sports", "3": "Business", "4": "Technology"]
        let text = try String(contentsOf: testData.appending(path: "ag_news.csv"), encoding: .utf8)
        return text.split(separator: "\n").enumerated().compactMap { index, line in
            // Every field is quoted; a quote inside is doubled.
            let fields = line.dropFirst().dropLast().components(separatedBy: "\",\"").map {
                $0.replacingOccurrences(of: "\"\"", with: "\"")
            }
            guard fields.count == 3, let category = categories[fields[0]] else { return nil }
            var event = NewsEvent(id: "urn:ag-news:\(index)", headline: fields[1])
            event.categories = [category]
            event.summary = fields[2]
            return event
        }
    }

    /// The ninjs documents, byte for byte, with the uri each must be known by.
    static func ninjs() throws -> [(id: String, bytes: [UInt8])] {
        guard let folder = testData?.appending(path: "ninjs") else { return [] }
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map { name in
            let data = try Data(contentsOf: folder.appending(path: name))
            let document = try JSONSerialization.jsonObject(with: data) as? [String: Any]
            return (document?["uri"] as? String ?? "", Array(data))
        }
    }
}
