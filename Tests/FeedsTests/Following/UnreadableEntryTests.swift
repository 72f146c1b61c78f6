import NewsModel
import Testing

@testable import Feeds

/// Entries that cannot become an event by the settings, until these are mended.
struct UnreadableEntryTests {
    @Test func `a new entry becomes news once the settings let it`() {
        var feed = FollowedFeed.empty()
        let entry = feed.entry("a")
        (feed.rules.category, feed.rules.categoryMap) = (nil, ["politics": "World"])
        #expect(feed.poll([entry]).actions == [.unreadable])
        #expect(feed.poll([entry]).actions == [.unchanged])
        feed.rules.category = "World"
        #expect(feed.poll([entry]).actions == [.alert])
        #expect(feed.poll([entry]).actions == [.unchanged])
    }

    @Test func `a correction is sent once the settings let it`() {
        var feed = FollowedFeed.empty()
        feed.poll([feed.entry("a", "Ten dead")])
        let entry = feed.entry("a", "Two dead")
        (feed.rules.category, feed.rules.categoryMap) = (nil, ["politics": "World"])
        for _ in 0..<2 { #expect(feed.poll([entry]).actions == [.unreadable]) }
        feed.rules.category = "World"
        #expect(feed.poll([entry]).events.map(\.headline) == ["Two dead"])
        #expect(feed.poll([entry]).actions == [.unchanged])
    }

    @Test func `new entries of pushes that are not sent are bounded`() {
        var feed = FollowedFeed.empty()
        var number = 0
        for _ in 0..<12 {
            let old = (0..<1_000).map { _ in
                number += 1
                return feed.entry("\(number)", age: .seconds(30 * 86_400))
            }
            feed.poll(old, isPartial: true)
        }
        #expect(feed.entries.count == EntryTable.rowsMax)
        #expect(feed.poll([feed.entry("news")], isPartial: true).actions == [.alert])
        #expect(feed.entries.count == EntryTable.rowsMax + 1)
    }
}
