import NewsModel
import Testing

@testable import Feeds

/// Recalled, withheld and embargoed entries of a first reading, whose alerts may have been sent by a process whose state is lost.
@Suite struct FirstReadingWithdrawalTests {
    private static let day = Duration.seconds(86_400)

    private static func canceled(
        _ id: String, in feed: FollowedFeed, age: Duration?, changed: Duration? = nil
    ) -> FeedEntry {
        var entry = feed.entry(id, age: age)
        entry.status = .canceled
        entry.updatedAt = changed.map { feed.now + .seconds(60) - $0 }
        return entry
    }

    @Test func `a first reading writes what recalls or withholds an alert of the last week, and alerts of nothing`() {
        var feed = FollowedFeed()
        var withheld = feed.entry("withheld", age: Self.day * 2)
        withheld.status = .withheld
        var endless = feed.entry("endless")
        endless.embargo = .untilFurtherNotice
        var early = feed.entry("early", age: Self.day * 8)
        early.status = .withheld
        let entries = [
            feed.entry("usable"), Self.canceled("recent", in: feed, age: Self.day),
            Self.canceled("undated", in: feed, age: nil),
            Self.canceled("changed", in: feed, age: Self.day * 30, changed: Self.day),
            Self.canceled("old", in: feed, age: Self.day * 8), withheld, endless, early,
        ]
        let result = feed.poll(entries)
        let written = Dictionary(uniqueKeysWithValues: result.events.map { ($0.id, $0.status) })
        let expected: [String: NewsEvent.Status] = [
            "wire:recent": .canceled, "wire:undated": .canceled, "wire:changed": .canceled, "wire:withheld": .withheld,
            "wire:endless": .withheld,
        ]
        #expect(written == expected)
        #expect(result.decisions.allSatisfy { $0.lane == nil || $0.lane == "live" })
        #expect(feed.poll(entries).events.isEmpty)
    }

    @Test func `a first reading writes at most maxPerHour recalls, the latest ones, which hold back no news`() {
        var feed = FollowedFeed { $0.maxPerHour = 2 }
        let gone = (0..<10).map { Self.canceled("\($0)", in: feed, age: Self.day, changed: .seconds(100 - $0)) }
        let first = feed.poll(gone)
        #expect(Set(first.events.map(\.id)) == ["wire:9", "wire:8"])
        #expect(!first.isIncomplete)
        let news = [feed.entry("a"), feed.entry("b")]
        #expect(feed.poll(news + gone).count(.alert) == 2)
        #expect(feed.poll(news + gone, after: .seconds(3_600)).events.isEmpty)
    }

    /// The former state has counted versions for which the publisher made none of its own.
    @Test(
        arguments: [nil, "7", "draft-7", "2026-09-21T10:00:00Z"] as [String?], [NewsEvent.Status.withheld, .canceled])
    func `an event of a first reading is later than those of a state that was lost`(
        version: String?, status: NewsEvent.Status
    ) throws {
        var former = FollowedFeed.empty()
        var entry = former.entry("a")
        entry.version = version.map { NewsEvent.Version($0) }
        former.poll([entry])
        entry.headline = "Corrected"
        entry.updatedAt = former.now
        let sent = try #require(former.poll([entry]).events.first?.version)
        var next = FollowedFeed()
        next.now = former.now
        entry.status = status
        let withdrawn = try #require(next.poll([entry]).events.first?.version)
        #expect(sent < withdrawn)
        // The publisher's next version is still recognized as its own.
        entry.status = .usable
        entry.version = version.map {
            NewsEvent.Version($0 == "7" ? "8" : $0 == "draft-7" ? "draft-8" : "2026-09-21T10:01:00Z")
        }
        entry.updatedAt = next.now
        let freed = next.poll([entry])
        #expect(freed.actions == [status == .withheld ? .alert : .update])
        #expect(withdrawn < (try #require(freed.events.first?.version)))
    }

    @Test(arguments: [nil, "7"] as [String?])
    func `an embargo that a first reading finds replaces the one with which an alert waits`(version: String?) throws {
        var former = FollowedFeed.empty()
        var entry = former.entry("a")
        entry.version = version.map { NewsEvent.Version($0) }
        entry.embargo = .until(former.now + .seconds(7_200))
        let waiting = try #require(former.poll([entry]).events.first)
        var next = FollowedFeed()
        next.now = former.now
        entry.embargo = .until(former.now + .seconds(10_000))
        let event = try #require(next.poll([entry]).events.first)
        let (before, after) = (try #require(waiting.version), try #require(event.version))
        #expect(before < after)
        #expect(event.embargoUntil == former.now + .seconds(10_000))
    }

    @Test func `an entry that is freed after a first reading is an alert, unless it is old by then`() {
        for age in [Duration.zero, .seconds(7_200)] {
            var feed = FollowedFeed()
            var entry = feed.entry("a", age: age)
            entry.status = .withheld
            #expect(feed.poll([entry]).events.map(\.status) == [.withheld])
            entry.status = .usable
            #expect(feed.poll([entry]).actions == [age == .zero ? .alert : .stale])
        }
    }
}
