import HubEmulator
import HubServer
import KafkaIO
import NewsModel
import PublishEngine
import PublisherService
import TestSupport
import Testing

struct ReloadTests {
    /// Two readings of the settings that differ in everything a reload may change.
    private func settings(_ newsroom: Newsroom, _ edition: String) throws -> PublisherSettings {
        let table = try CategoryTable([.init(name: "World \(edition)", tag: "Tag\(edition)", names: ["world"])])
        return try newsroom.settings(payload: PayloadSettings(message: "\(edition) {{headline}} for {{category}}")) {
            $0.table = table
            $0.engine.rate = .init(perSecond: edition == "A" ? 20_000 : 30_000, burst: 100)
            $0.shards = 2
            // So that events are read all along, not all at once.
            $0.engine.lanes[0].window.records = 64
        }
    }

    @Test func `every event uses the old settings or the new ones, never a mix, however often they change`()
        async throws
    {
        let newsroom = try await Newsroom { $0.messagesKept = 100_000 }
        let events = (0..<3000).map { index in
            var event = NewsEvent(id: "\(index)", headline: "Headline \(index)")
            event.categories = ["World"]
            return event
        }
        try newsroom.topics.publish(events)
        let publisher = try newsroom.publisher(try settings(newsroom, "A"))
        let editions = try ["A", "B"].map { try settings(newsroom, $0) }
        let settled = Counter()
        publisher.telemetry.onResult { _ in
            // In the middle of the work, from the very thread that does it.
            let count = settled.next()
            if count % 50 == 0 { try? publisher.reload(editions[(count / 50) % 2]) }
        }
        try await publisher.run(untilCaughtUp: true)

        let messages = newsroom.hub.received
        #expect(messages.count == events.count)
        for message in messages {
            let edition = message.tags == "TagA" ? "A" : "B"
            let body = String(decoding: message.body, as: UTF8.self)
            #expect(message.tags == "Tag\(edition)")
            #expect(body.contains("\(edition) Headline") && body.contains("for World \(edition)"), "\(body)")
        }
        #expect(Set(messages.compactMap(\.tags)) == ["TagA", "TagB"])
        // Both readings' categories go on being counted.
        let status = publisher.telemetry.status
        #expect(Set(status.categories) == ["World A", "World B"])
        #expect(status.tally.categories.reduce(0) { $0 + $1.total } == UInt64(events.count))
        await newsroom.close()
    }

    @Test func `new settings that cannot be built change nothing`() async throws {
        let newsroom = try await Newsroom()
        let publisher = try newsroom.publisher(try settings(newsroom, "A"))
        var bad = try settings(newsroom, "B")
        bad.payload.message = "{{headline"
        #expect(throws: PublisherFailure.self) { try publisher.reload(bad) }
        #expect(publisher.telemetry.status.rate?.perSecond == 20_000)
        #expect(publisher.telemetry.status.categories == ["World A"])
        await newsroom.close()
    }
}
