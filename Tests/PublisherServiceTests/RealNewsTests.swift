import Foundation
import HubEmulator
import HubServer
import KafkaIO
import NewsModel
import NotificationHub
import PublishEngine
import PublisherService
import TestSupport
import Testing

@Suite(.enabled(if: RealNews.folder != nil, "\(RealNews.isMissing)"))
struct RealNewsTests {
    @Test(arguments: [
        PayloadSettings(mode: .template), PayloadSettings(mode: .native([.apple, .fcmv1, .windows])),
    ])
    func `all real news gets one result per delivery and arrives as written`(payload: PayloadSettings) async throws {
        let newsroom = try await Newsroom()
        let rows = try RealNews.agNews()
        #expect(rows.count == 4000)
        let documents = try RealNews.ninjs()
        try newsroom.topics.publish(rows)
        try newsroom.topics.publish(documents.map { (nil, $0.bytes, []) })
        let settings = try newsroom.settings(payload: payload) { settings in
            // News without a known subject is sent to World here, because agencies differ.
            settings.unroutable = .category("World")
        }

        try await newsroom.publisher(settings).run(untilCaughtUp: true)

        let results = try newsroom.topics.results()
        var seen: Set<String> = []
        for result in results {
            #expect(seen.insert(result.coordinates.description).inserted, "two results for \(result.coordinates)")
        }
        #expect(results.count == (rows.count + documents.count) * payload.platforms.count)
        // Two of the documents are one story in two versions of the standard, with the same id and version.
        let accepted = results.filter { $0.outcome == .accepted }
        let others = results.filter { $0.outcome != .accepted }
        #expect(
            others.allSatisfy {
                $0.outcome == .duplicate && $0.eventID == "urn:newsml:dpa.com:20090101:190510-99-167362"
            })
        #expect(try newsroom.topics.deadLetters().isEmpty)
        #expect(newsroom.hub.receivedCount == accepted.count)

        var headlines: [String: Int] = [:]
        for row in rows {
            headlines["Breaking \(row.categories[0]) News : \(row.headline)", default: 0] += payload.platforms.count
        }
        for message in newsroom.hub.received {
            let text = try #require(try MessageText.of(message), "\(message.format) \(message.body.count) bytes")
            headlines[text]? -= 1
        }
        let wrong = headlines.filter { $0.value != 0 }.keys
        #expect(wrong.isEmpty, "headlines that did not arrive once per platform: \(wrong.prefix(3))")

        let second = try newsroom.publisher(settings)
        try await second.run(untilCaughtUp: true)
        #expect(second.metrics.outcomes.isEmpty)
        #expect(newsroom.hub.receivedCount == accepted.count)
        await newsroom.close()
    }

    @Test func `a drain during the work and a new start lose nothing and send nothing twice`() async throws {
        let newsroom = try await Newsroom()
        let rows = try RealNews.agNews()
        try newsroom.topics.publish(rows)
        let settings = try newsroom.settings()

        let first = try newsroom.publisher(settings)
        let settled = Counter()
        first.metrics.onResult { _ in if settled.next() == 1000 { first.drain() } }
        try await first.run()
        let before = try newsroom.topics.results().count
        #expect(before >= 1000)
        #expect(before < rows.count)

        try await newsroom.publisher(settings).run(untilCaughtUp: true)
        let results = try newsroom.topics.results()
        #expect(results.count == rows.count)
        #expect(Set(results.map(\.eventID)).count == rows.count)
        #expect(results.allSatisfy { $0.outcome == .accepted })
        #expect(newsroom.hub.receivedCount == rows.count)
        await newsroom.close()
    }

    @Test func `another group on the same results topic has its own ledger`() async throws {
        let newsroom = try await Newsroom()
        let rows = try RealNews.agNews().prefix(200)
        try newsroom.topics.publish(Array(rows))
        try await newsroom.publisher(newsroom.settings()).run(untilCaughtUp: true)
        let other = try newsroom.settings { $0.kafka.group = "newsroom-of-another" }
        try await newsroom.publisher(other).run(untilCaughtUp: true)
        #expect(newsroom.hub.receivedCount == 2 * rows.count)

        let again = try newsroom.publisher(other)
        try await again.run(untilCaughtUp: true)
        #expect(again.metrics.outcomes.isEmpty)
        await newsroom.close()
    }

    @Test func `nothing is lost when a second member joins, and both end when everything is done`() async throws {
        let newsroom = try await Newsroom()
        let rows = try RealNews.agNews()
        try newsroom.topics.publish(rows)
        let settings = try newsroom.settings { $0.engine.rate = .init(perSecond: 400, burst: 10) }
        let first = try newsroom.publisher(settings)
        let second = try newsroom.publisher(settings)

        let settled = Counter()
        let (underWay, begun) = AsyncStream<Void>.makeStream()
        first.metrics.onResult { _ in if settled.next() == 500 { begun.finish() } }
        async let one: Void = first.run(untilCaughtUp: true)
        // The second member joins while the first one is working.
        for await _ in underWay {}
        async let two: Void = second.run(untilCaughtUp: true)
        try await one
        try await two

        let results = try newsroom.topics.results()
        #expect(Set(results.map(\.eventID)).count == rows.count)
        // On a busy machine a reply may come after its timeout, and the same member then repeats the request.
        #expect(newsroom.hub.receivedCount == results.reduce(0) { $0 + $1.attempts })
        #expect(results.count == rows.count)
        await newsroom.close()
    }
}
