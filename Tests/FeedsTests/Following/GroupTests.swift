import NewsModel
import Testing

@testable import Feeds

/// Stories that a feed could not send at once, and that another feed of its group sends in the meantime.
struct GroupTests {
    enum Delay: CaseIterable { case withheld, unreadable, limited }

    @Test(arguments: Delay.allCases)
    func `an entry that could not be sent at first is a duplicate if another feed has brought it by then`(
        _ delay: Delay
    ) {
        var feed = FollowedFeed.empty {
            $0.group = "wires"
            $0.maxPerHour = delay == .limited ? 0 : 20
        }
        var entry = feed.entry("z", "Ten hurt")
        if delay == .withheld { entry.status = .withheld }
        if delay == .unreadable { entry.headline = nil }
        #expect(feed.poll([entry]).events.isEmpty)
        feed.group.note(
            link: 0, title: StableHash.of(FoldedText.headline("Ten hurt")), feed: "other", at: Minute.of(feed.now))
        let free = feed.poll([feed.entry("z", delay == .limited ? "TEN HURT" : "Ten hurt")])
        #expect(free.actions == [.duplicate])
        #expect(free.events.isEmpty && feed.log.heldBack.isEmpty)
        #expect(feed.poll([feed.entry("z", "TEN HURT!")]).events.isEmpty)
    }

    /// The other feed sent the story to the backfill lane, because nobody had polled it for long.
    @Test func `a late copy of a story does not keep another feed's fresh one off its lane`() {
        var feed = FollowedFeed.empty { $0.group = "wires" }
        for (headline, isLate) in [("Ten hurt", [true]), ("Storm", [true, false]), ("Flood", [false, true])] {
            for (index, isLate) in isLate.enumerated() {
                feed.group.note(
                    link: 0, title: StableHash.of(FoldedText.headline(headline)), feed: "other \(index)",
                    isLate: isLate,
                    at: Minute.of(feed.now))
            }
        }
        let fresh = feed.poll([feed.entry("a", "Ten hurt"), feed.entry("b", "Storm"), feed.entry("c", "Flood")])
        #expect(fresh.decisions.map(\.lane) == ["live", nil, nil])
        #expect(fresh.actions == [.alert, .duplicate, .duplicate])
    }

    @Test(arguments: [true, false])
    func `of two late copies of a story, one is sent, and none beside a fresh one`(isLate: Bool) {
        var feed = FollowedFeed.empty {
            $0.group = "wires"
            $0.maxAge = .seconds(3_600)
        }
        let title = StableHash.of(FoldedText.headline("Ten hurt"))
        feed.group.note(
            link: 0, title: title, feed: "other", isLate: isLate, at: Minute.of(feed.now + .seconds(7_000)))
        var entries = [feed.entry("a", "Ten hurt", age: .seconds(-600)), feed.entry("b", age: .seconds(-600))]
        let late = feed.poll(entries, after: .seconds(7_200))
        #expect(late.actions == [.duplicate, .alert])
        #expect(late.decisions.map(\.lane) == [nil, "backfill"])
        entries[1].headline = "Corrected"
        #expect(feed.poll(entries).decisions.map(\.lane) == [nil, "backfill"])
    }

    private static let other = "https://other.example/feed"

    /// Makes a fixture with two feeds of one group. The other one has no entries.
    private func grouped() -> IngesterFixture {
        var fixture = IngesterFixture()
        var other = FeedRules(name: "other", url: Self.other)
        other.category = "World"
        other.group = "wires"
        fixture.settings.feeds[0].group = "wires"
        fixture.settings.feeds.append(other)
        fixture.others[other.url] = []
        return fixture
    }

    @Test(arguments: [0, 20])
    func `a link that several entries of a feed share makes no duplicates`(maxPerHour: Int) {
        let live = "https://example.org/live"
        var fixture = grouped()
        fixture.settings.feeds[0].maxPerHour = maxPerHour
        fixture.publish("old")
        fixture.document[0].link = live
        fixture.live(as: "first", polls: 6)
        var story = fixture.document[0]
        story.id = "x"
        story.headline = "Airport closed by fog"
        story.publishedAt = fixture.now
        fixture.others[Self.other] = [story]
        fixture.live(as: "second", polls: 20)
        #expect(fixture.texts == ["other:x 1 Airport closed by fog"])
        fixture.publish("y")
        fixture.document[0].link = live
        fixture.live(as: "third", polls: 6)
        fixture.settings.feeds[0].maxPerHour = 20
        fixture.live(as: "fourth", polls: 6)
        #expect(fixture.texts == ["other:x 1 Airport closed by fog", "wire:y 1 Headline of y"])
    }

    @Test func `a link that only the other feed's entries share makes no duplicates`() {
        let live = "https://example.org/live"
        var fixture = grouped()
        var entry = FeedEntry(id: "old", headline: "Calm day")
        entry.link = live
        fixture.others[Self.other] = [entry]
        fixture.publish("old")
        fixture.live(as: "first", polls: 6)
        entry.id = "x"
        entry.headline = "Airport closed by fog"
        entry.publishedAt = fixture.now
        fixture.others[Self.other]?.insert(entry, at: 0)
        fixture.live(as: "second", polls: 20)
        #expect(fixture.texts == ["other:x 1 Airport closed by fog"])
        fixture.publish("y")
        fixture.document[0].link = live
        // The new owner has the group's stories from the state topic.
        fixture.live(as: "third", polls: 20)
        #expect(fixture.texts == ["other:x 1 Airport closed by fog", "wire:y 1 Headline of y"])
    }

    @Test func `a link that several entries of one document share makes no duplicates of them`() {
        var feed = FollowedFeed.empty()
        let entries = ["Airport closed by fog", "Parliament dissolved", "Parliament dissolved"].enumerated().map {
            var entry = feed.entry("e\($0)", $1)
            entry.link = "https://example.org/\($0 == 2 ? "own" : "live")"
            return entry
        }
        let link = StableHash.of(LinkKey.of("https://example.org/live"))
        #expect(feed.poll(Array(entries.dropFirst())).sharedLinks.isEmpty)
        #expect(feed.poll(entries).sharedLinks.isEmpty)
        feed = FollowedFeed.empty()
        #expect(feed.poll(entries).sharedLinks == [link])
    }

    @Test func `a link that becomes shared makes no duplicates any more`() {
        var memory = GroupMemory()
        memory.note(link: 7, title: 1, feed: "other", at: 10)
        memory.forget(link: 7, of: "third")
        #expect(memory.feed(thatBrought: 7, title: 2, besides: "wire", by: 11, at: 11) == "other")
        memory.forget(link: 7, of: "other")
        #expect(memory.feed(thatBrought: 7, title: 2, besides: "wire", by: 11, at: 11) == nil)
        #expect(memory.feed(thatBrought: 7, title: 1, besides: "wire", by: 11, at: 11) == "other")
    }

    @Test func `a duplicate that has another headline is reported once`() {
        var feed = FollowedFeed.empty { $0.group = "wires" }
        let entries = [feed.entry("a", "Ten hurt"), feed.entry("b", "Storm")]
        for (entry, title) in zip(entries, ["Twelve hurt", "Storm"]) {
            feed.group.note(
                link: StableHash.of(LinkKey.of(entry.link ?? "")), title: StableHash.of(FoldedText.headline(title)),
                feed: "other", at: Minute.of(feed.now))
        }
        let found = feed.poll(entries)
        #expect(found.actions == [.duplicate, .duplicate])
        #expect(found.notes.count == 1 && found.notes.first?.hasSuffix("`a`, whose link came from `other`") == true)
        #expect(feed.poll(entries).notes.isEmpty)
    }

    @Test func `an alert that maxPerHour holds back is not sent if another feed of the group sends the story`() {
        var fixture = grouped()
        fixture.settings.feeds[0].maxPerHour = 1
        fixture.live(as: "first", polls: 6)
        for id in ["x", "y"] { fixture.publish(id) }
        fixture.live(as: "second", polls: 12)
        #expect(fixture.texts == ["wire:y 1 Headline of y"])
        fixture.others[Self.other] = [fixture.document[1]]
        // Many, because the feed with news is polled more often than the other one.
        fixture.live(as: "third", polls: 20)
        fixture.now = fixture.now + .seconds(3_600)
        fixture.live(as: "fourth", polls: 6)
        #expect(fixture.texts == ["wire:y 1 Headline of y", "other:x 1 Headline of x"])
    }
}
