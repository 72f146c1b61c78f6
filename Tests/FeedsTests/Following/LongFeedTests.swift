import NewsModel
import Testing

@testable import Feeds

/// Feeds with more new entries than one reading may send, and feeds that are not sorted.
struct LongFeedTests {
    @Test(arguments: [90, 200])
    func `a new entry of a long feed is sent by its date, whatever its place`(ages: Int) {
        var feed = FollowedFeed()
        // The dates rise and fall.
        var entries = (0..<150).map { feed.entry("\($0)", age: .seconds(600 + $0 * 37 % ages * 100)) }
        feed.poll(entries)
        entries.insert(feed.entry("new"), at: 120)
        let result = feed.poll(entries)
        #expect(result.events.map(\.id) == ["wire:new"])
        #expect(result.notes.isEmpty)
    }

    @Test func `beyond maxPerPoll, the latest entries of a feed that is not sorted are sent`() {
        var feed = FollowedFeed.empty { $0.maxPerPoll = 2 }
        let entries = [50, 10, 40, 0, 30].map { feed.entry("\($0)", age: .seconds($0)) }
        #expect(feed.poll(entries).events.map(\.id) == ["wire:10", "wire:0"])
    }

    @Test(arguments: [(600, 0), (3_600, 3)])
    func `beyond maxPerPoll, entries that appeared in an outage go to the backfill lane`(outage: Int, late: Int) {
        var feed = FollowedFeed.empty { $0.maxPerPoll = 2 }
        let entries = (0..<5).map { feed.entry("\($0)", age: .seconds(-60 - $0)) }
        let result = feed.poll(entries, after: .seconds(outage))
        #expect(result.decisions.count { $0.lane == "live" } == 2)
        #expect(result.decisions.count { $0.lane == "backfill" } == late)
        #expect(result.notes.isEmpty == (late > 0))
    }

    @Test func `entries beyond the 100 that may be sent after an outage are counted in a warning`() {
        var feed = FollowedFeed.empty()
        let entries = (0..<180).map { feed.entry("\($0)", age: .seconds(-600 - 10 * $0)) }
        let result = feed.poll(entries, after: .seconds(36_000))
        #expect(result.events.count == 100)
        #expect(result.notes == ["80 new entries beyond the newest 100 are not sent"])
    }

    @Test func `entries beyond the 100 that may be sent at first sight are counted in a warning`() {
        var feed = FollowedFeed { $0.onFirstSight = .all }
        let result = feed.poll((0..<300).map { feed.entry("\($0)", age: .seconds($0 * 37 % 300 * 60)) })
        #expect(result.events.last?.id == "wire:0")
        #expect(result.events.count == 100)
        #expect(result.notes == ["200 new entries beyond the newest 100 are not sent"])
    }
}
