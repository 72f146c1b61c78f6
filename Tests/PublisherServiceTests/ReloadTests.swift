import HubEmulator
import HubServer
import KafkaIO
import NewsModel
import PublishEngine
import PublisherService
import TestSupport
import Testing

struct ReloadTests {
    /// Two sets of settings that differ in everything that a reload may change.
    private func settings(_ newsroom: Newsroom, _ edition: String) throws -> PublisherSettings {
        let table = try CategoryTable([.init(name: "World \(edition)", tag: "Tag\(edition)", names: ["world"])])
        return try newsroom.settings(payload: PayloadSettings(message: "\(edition) {{headline}} for {{category}}")) {
            $0.table = table
            $0.engine.rate = .init(perSecond: edition == "A" ? 20_000 : 30_000, burst: 100)
            $0.shards = 2
            // A small window, so that events are read throughout the test.
            $0.engine.lanes[0].window.records = 64
        }
    }

    @Test func `every event uses the old settings or the new ones, never a mix, in any number of reloads`()
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
        publisher.metrics.onResult { _ in
            // The reload is called during the work, on the thread that does it.
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
        // The categories of both sets are still counted.
        let status = publisher.metrics.status
        #expect(Set(status.categories) == ["World A", "World B"])
        #expect(status.tally.categories.reduce(0) { $0 + $1.total } == UInt64(events.count))
        await newsroom.close()
    }

    @Test func `invalid new settings change nothing`() async throws {
        let newsroom = try await Newsroom()
        let publisher = try newsroom.publisher(try settings(newsroom, "A"))
        var bad = try settings(newsroom, "B")
        bad.payload.message = "{{headline"
        #expect(throws: PublisherFailure.self) { try publisher.reload(bad) }
        #expect(publisher.metrics.status.rate?.perSecond == 20_000)
        #expect(publisher.metrics.status.categories == ["World A"])
        await newsroom.close()
    }
}
