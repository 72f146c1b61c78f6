import Feeds
import Foundation
import NewsModel
import NewswireCommands
import TestSupport
import Testing

struct LiveFeedsTests {
    private let status = FeedStatus(
        FeedRules(name: "world", url: "https://example.org/"), nil, at: Instant(milliseconds: 0))

    @Test func `the next poll comes from the process that follows the feed`() throws {
        let poll = Instant(milliseconds: 1_000_000)
        var followed = status
        followed.nextPollAt = poll
        followed.because = "limited by max-age 300 s"
        let report = IngestReport(at: poll, startedAt: poll, feeds: [followed], notReady: [])
        let live = try #require(LiveFeeds(json: Data(report.json(version: "1"))))
        var known = status
        live.complete(&known)
        #expect(known == followed)
        var other = FeedStatus(FeedRules(name: "sports", url: ""), nil, at: poll)
        live.complete(&other)
        #expect(other.nextPollAt == nil)
        #expect(live.follows("world") && !live.follows("sports"))
    }

    @Test(arguments: ["", "no", "[]", "{}"]) func `a reply of another service is ignored`(text: String) {
        #expect(LiveFeeds(json: Data(text.utf8)) == nil)
    }

    @Test func `an address without a service is no error`() async {
        #expect(await LiveFeeds.ask("127.0.0.1:1") == nil)
    }

    @Test func `a process that does not answer is not awaited for long`() async throws {
        let frozen = try await ScriptedPublisher.start { _ in .silence }
        let clock = ContinuousClock()
        let took = await clock.measure { #expect(await LiveFeeds.ask("127.0.0.1:\(frozen.port)") == nil) }
        #expect(took < .seconds(30))
        await frozen.stop()
    }
}
