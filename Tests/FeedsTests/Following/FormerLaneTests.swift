import NewsModel
import Testing

@testable import Feeds

/// Entries whose alert went to another lane than that of the feed now.
@Suite struct FormerLaneTests {
    /// A feed whose alert went to the lane `live`, before it got the lane `urgent`.
    private static func moved() -> (feed: FollowedFeed, entry: FeedEntry) {
        var feed = FollowedFeed.empty()
        let entry = feed.entry("a")
        feed.poll([entry])
        feed.rules.lane = "urgent"
        return (feed, entry)
    }

    private static func lanes(_ following: Following) -> [String] { following.changes.compactMap(\.event?.lane) }

    @Test func `later versions of an entry follow its alert after the feed has got another lane`() {
        var (feed, entry) = Self.moved()
        entry.headline = "Corrected"
        #expect(Self.lanes(feed.poll([feed.entry("b"), entry])) == ["live", "urgent"])
        entry.status = .withheld
        #expect(Self.lanes(feed.poll([entry])) == ["live"])
        entry.status = .usable
        #expect(Self.lanes(feed.poll([entry])) == ["live"])
        entry.status = .canceled
        #expect(Self.lanes(feed.poll([entry])) == ["urgent"])
        entry.status = .usable
        #expect(Self.lanes(feed.poll([entry], after: .seconds(3_600))) == ["live"])
    }

    @Test func `an entry under another id follows the alert of the former one`() {
        var (feed, entry) = Self.moved()
        (entry.id, entry.headline) = ("c", "Corrected")
        #expect(Self.lanes(feed.poll([entry])) == ["live"])
        entry.headline = "Corrected again"
        #expect(Self.lanes(feed.poll([entry])) == ["live"])
    }

    @Test func `a correction that a limit has held back keeps the lane of its alert`() throws {
        var (feed, entry) = Self.moved()
        feed.rules.maxPerHour = 1
        entry.headline = "Corrected"
        #expect(feed.poll([entry]).actions == [.limited])
        #expect(feed.log.heldBack.values.map(\.intent.lane) == ["live"])
        entry.headline = "Corrected again"
        #expect(Self.lanes(feed.poll([entry], after: .seconds(3_600))) == ["live"])
    }

    @Test func `an entry whose lane the settings no longer have, or whose record names none, has the lane of its feed`()
    {
        var (feed, entry) = Self.moved()
        feed.lanes = ["urgent", "backfill"]
        entry.headline = "Corrected"
        #expect(Self.lanes(feed.poll([entry])) == ["urgent"])
        let hash = EntryHash("a")
        var record = feed.log.record(of: hash, writer: "former version")
        record?.lane = nil
        feed.log.fold(hash, record)
        feed.lanes = nil
        entry.headline = "Corrected again"
        #expect(Self.lanes(feed.poll([entry])) == ["urgent"])
    }

    @Test func `the next process knows the lanes of alerts`() {
        var fixture = IngesterFixture.withTwoStories
        fixture.live(as: "second")
        fixture.settings.feeds[0].lane = "urgent"
        fixture.document[0].headline = "Corrected"
        fixture.publish("c")
        fixture.live(as: "third", polls: 2)
        #expect(fixture.writtenTo == ["live", "live", "urgent"])
        #expect(fixture.texts.suffix(2) == ["wire:b 2 Corrected", "wire:c 1 Headline of c"])
    }
}
