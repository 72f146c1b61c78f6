import KafkaIO
import NewsModel
import NotificationHub
import PublishEngine
import PublisherService
import SchemaRegistry
import Synchronization
import TestSupport
import Testing

/// Avro records between a broker, a registry and a hub.
struct WaitingLaneTests {
    private static let schema = #"""
        {"type": "record", "name": "Article", "fields": [{"name": "articleId", "type": "long"},
         {"name": "title", "type": ["null", "string"]}, {"name": "section", "type": "string"}]}
        """#

    /// An article of schema 1.
    private static func article(_ number: UInt8, _ title: String) -> [UInt8] {
        [0, 0, 0, 0, 1, number << 1, 2, UInt8(title.utf8.count) << 1] + Array(title.utf8) + [10] + Array("World".utf8)
    }

    private static func format() throws -> EventFormat {
        func at(_ pointer: String) throws -> [MemberSource] {
            [MemberSource(pointers: [try #require(JSONPointer(pointer))])]
        }
        return EventFormat(
            name: "cms", condition: .init(),
            members: [
                MappedMember(.id, try at("/articleId")), MappedMember(.headline, try at("/title")),
                MappedMember(.category, try at("/section")),
            ])
    }

    private static func saysWhy(_ wait: ServiceStatus.Waiting) -> Bool {
        wait.reason == .schema && wait.lane == "live"
            && wait.detail.contains("schema 1 is not here: the schema registry does not answer")
    }

    @Test func `while the registry is away its lane waits and says so, others go on, and nothing is lost`() async throws
    {
        let newsroom = try await Newsroom()
        let broker = try EmbeddedBroker(topics: Topics.all(partitions: 4) + [("other", 4)])
        let topics = Topics(kafka: broker.settings(group: "newsroom"), partitions: 4)
        let port = try await FreePort.next()
        let settings = try newsroom.settings { settings in
            settings.kafka = topics.kafka
            settings.engine.lanes = [
                LaneSettings(name: "live", topics: [Topics.events]), LaneSettings(name: "other", topics: ["other"]),
            ]
            settings.registry = SchemaRegistry(url: "http://127.0.0.1:\(port)/")
        }
        var changed = settings
        changed.engine.formats = EventFormats([try Self.format()], usesRegistry: true)
        try topics.publish([(nil, Self.article(1, "one"), []), (nil, Self.article(2, "two"), [])])
        try topics.publish(
            [(nil, Array(#"{"articleId": 3, "title": "three", "section": "World"}"#.utf8), [])], to: "other")
        let publisher = try newsroom.publisher(changed)
        let (results, settled) = AsyncStream<ResultRecord>.makeStream()
        publisher.metrics.onResult { settled.yield($0) }
        async let run: Void = publisher.run()
        var iterator = results.makeAsyncIterator()
        #expect(await iterator.next()?.eventID == "3")
        while !publisher.metrics.status.waits.contains(where: Self.saysWhy) { await Task.yield() }
        let registry = try await TestRegistry(port: port) { path in
            path == "/schemas/ids/1" ? .schema(Self.schema) : .unknown
        }
        var later = [await iterator.next(), await iterator.next()].compactMap(\.self)
        later.sort { $0.eventID ?? "" < $1.eventID ?? "" }
        #expect(later.map(\.eventID) == ["1", "2"])
        #expect(later.map(\.outcome) == [.accepted, .accepted])
        #expect(later.map(\.format) == ["cms", "cms"])
        publisher.drain()
        try await run
        await registry.close()
        await newsroom.close()
    }

    @Test func `records of unknown and unusable schemas, and bytes that do not fit theirs, end as undecodable`()
        async throws
    {
        let newsroom = try await Newsroom(partitions: 1)
        let registry = try await TestRegistry { path in
            switch path {
            case "/schemas/ids/1": .schema(Self.schema)
            case "/schemas/ids/2": .schema("message", type: "PROTOBUF")
            default: .unknown
            }
        }
        let settings = try newsroom.settings { settings in
            settings.registry = SchemaRegistry(url: registry.url)
            settings.engine.formats = .init([], usesRegistry: true)
        }
        var changed = settings
        changed.engine.formats.formats = [try Self.format()]
        let values: [[UInt8]] = [
            [0, 0, 0, 0, 9, 1], [0, 0, 0, 0, 2, 1], [0, 0, 0, 0, 1, 0xFF], Self.article(4, "four"),
            // A title that is null.
            [0, 0, 0, 0, 1, 10, 0, 2, 0x41],
            // No registry has such an id, and one that is asked for it answers like a server of another kind.
            [0, 0xFF, 0xFF, 0xFF, 0xFF, 1],
        ]
        try newsroom.topics.publish(values.map { (nil, $0, []) })
        try await newsroom.publisher(changed).run(untilCaughtUp: true)
        let results = try newsroom.topics.results().sorted { $0.source.offset < $1.source.offset }
        #expect(results.map(\.outcome) == (0..<6).map { $0 == 3 ? .accepted : .undecodable })
        #expect(
            results.map { $0.error?.code ?? "" }
                == ["unknown-schema", "unusable-schema", "bad-avro", "", "missing-headline", "unknown-schema"])
        #expect(results[4].error?.detail.hasPrefix("format cms, headline from /title: ") == true)
        #expect(results[4].format == "cms" && results[4].eventID == "5")
        #expect(try newsroom.topics.deadLetters().compactMap(\.value) == Array(values[..<3] + values[4...]))
        await registry.close()
        await newsroom.close()
    }
}
