import NewsModel
import Testing

@testable import Feeds

/// New entries of a feed, and entries that are withheld or recalled.
@Suite struct FollowerTests {
    // MARK: - First sight

    @Test func `an entry that is in the feed at first sight is not sent`() {
        var feed = FollowedFeed()
        #expect(feed.poll([feed.entry("b"), feed.entry("a")]).actions == [.backlog, .backlog])
        #expect(feed.poll([feed.entry("b"), feed.entry("a")]).actions == [.unchanged, .unchanged])
        #expect(feed.poll([feed.entry("c"), feed.entry("b")]).actions == [.alert, .unchanged])
    }

    @Test func `the first entry of a feed that was empty at first sight is sent`() {
        var feed = FollowedFeed.empty()
        let result = feed.poll([feed.entry("a")])
        #expect(result.actions == [.alert] && result.events.map(\.id) == ["wire:a"])
        #expect(result.events.map(\.version?.text) == ["1"])
        #expect(result.events.map(\.categories) == [["World"]])
    }

    @Test func `the newest entries are sent at first sight, oldest first, if the feed says so`() {
        var feed = FollowedFeed { $0.onFirstSight = .last(2) }
        let result = feed.poll([
            feed.entry("c", age: .zero), feed.entry("b", age: .seconds(60)), feed.entry("a", age: .seconds(120)),
        ])
        #expect(result.actions == [.alert, .alert, .backlog])
        #expect(result.events.map(\.id) == ["wire:b", "wire:c"])
    }

    @Test(arguments: [Duration?.some(.seconds(9_000)), nil])
    func `an entry that is under embargo at first sight is sent and due when the embargo ends`(age: Duration?) {
        var feed = FollowedFeed { $0.maxPerPoll = 2 }
        let end = feed.now + .seconds(3_600)
        var entries = ["d", "c", "b", "a"].map { feed.entry($0, age: age) }
        for index in 1...3 { entries[index].embargo = .until(end) }
        let result = feed.poll(entries)
        #expect(result.actions == [.backlog, .alert, .alert, .backlog])
        #expect(result.events.map(\.embargoUntil) == [end, end])
        #expect(result.notes.count == 1)
        #expect(feed.poll(entries).events.isEmpty)
        #expect(feed.poll(entries, after: .seconds(3_600)).events.isEmpty)
    }

    @Test func `all entries go to the backfill lane at first sight if the feed says so`() {
        var feed = FollowedFeed { $0.onFirstSight = .all }
        let result = feed.poll([feed.entry("b"), feed.entry("a")])
        #expect(result.decisions.map(\.lane) == ["backfill", "backfill"])
        feed = FollowedFeed { $0.onFirstSight = .all }
        feed.backfillLane = ""
        #expect(feed.poll([feed.entry("a")]).actions == [.backlog])
    }

    @Test func `an entry of the first sight that becomes readable later goes to the backfill lane, too`() {
        var feed = FollowedFeed { $0.onFirstSight = .all }
        var entries = [feed.entry("fresh"), feed.entry("old", age: .seconds(86_400))]
        for index in entries.indices { entries[index].headline = nil }
        #expect(feed.poll(entries).actions == [.unreadable, .unreadable])
        for index in entries.indices { entries[index].headline = "Headline of \(index)" }
        #expect(feed.poll(entries).decisions.map(\.lane) == ["backfill", "backfill"])
    }

    // MARK: - Stale

    @Test(
        arguments: [
            (Duration?.some(.seconds(7_100)), Decision.Action.alert), (.seconds(7_300), .stale), (nil, .alert),
        ])
    func `an entry older than maxAge is stale`(age: Duration?, action: Decision.Action) {
        var feed = FollowedFeed.empty()
        feed.poll([], after: .seconds(5_000))
        feed.poll([], after: .seconds(5_000))
        #expect(feed.poll([feed.entry("a", age: age)]).actions == [action])
    }

    /// Publishers and caches need some minutes.
    @Test(arguments: [
        (20, true, Decision.Action.alert), (600, true, .alert), (660, true, .stale), (20, false, .stale),
    ])
    func `an entry dated minutes before the first reading is news above known entries`(
        age: Int, isAbove: Bool, action: Decision.Action
    ) {
        var feed = FollowedFeed()
        let known = feed.entry("known", age: .seconds(isAbove ? 7_000 : 10))
        feed.poll([known])
        let new = feed.entry("new", age: .seconds(60 + age))
        let result = feed.poll(isAbove ? [new, known] : [known, new])
        #expect(result.decisions.map(\.action) == (isAbove ? [action, .unchanged] : [.unchanged, action]))
    }

    /// An entry that was brought back, a wrong date of a new entry, and a date in the future.
    @Test(arguments: [["old", "new", "a", "b"], ["wrong", "new", "a", "b"], ["new", "ahead"]])
    func `an entry above known ones is news in spite of its neighbours' dates`(ids: [String]) {
        let ages = ["ahead": -3_600, "new": 80, "a": 7_000, "b": 8_000, "old": 90_000, "wrong": 108_000]
        var feed = FollowedFeed()
        func entry(_ id: String) -> FeedEntry { feed.entry(id, age: ages[id].map { .seconds($0) }) }
        feed.poll(ids.filter { $0 != "new" && $0 != "wrong" }.map(entry))
        #expect(feed.poll(ids.map(entry)).events.map(\.id) == ["wire:new"])
    }

    /// A day has ended everywhere on Earth 12 hours after its end in UTC.
    @Test(arguments: [(0, Decision.Action.alert), (18, .alert), (22, .stale)])
    func `an entry dated by its day is news above known entries until the day has ended`(
        hoursLater: Int, action: Decision.Action
    ) {
        var feed = FollowedFeed()
        let known = feed.entry("known", age: .seconds(90_000))
        feed.poll([known])
        var new = feed.entry("new")
        new.publishedAt = FeedDate.read("2026-09-21")
        #expect(feed.poll([new, known], after: .seconds(hoursLater * 3_600)).actions == [action, .unchanged])
    }

    @Test(arguments: ["Mon, 21 Sep 2026 00:00:00 +0200", "2026-09-21T00:00:00-04:00"])
    func `an entry dated by its day in a zone of its own is news above known entries`(_ date: String) throws {
        var feed = FollowedFeed()
        let known = feed.entry("known", age: .seconds(90_000))
        feed.poll([known])
        let item = "<item><guid>new</guid><title>New</title><pubDate>\(date)</pubDate></item>"
        let document = try Samples.read("<rss version=\"2.0\"><channel>\(item)</channel></rss>")
        #expect(feed.poll(document.entries + [known]).actions == [.alert, .unchanged])
    }

    @Test func `an entry without a date is news only above known entries`() {
        var feed = FollowedFeed.empty()
        feed.poll([feed.entry("b", age: nil)])
        let entries = [feed.entry("c", age: nil), feed.entry("b", age: nil), feed.entry("a", age: nil)]
        #expect(feed.poll(entries).actions == [.alert, .unchanged, .stale])
        feed = FollowedFeed.empty { $0.isUndated = true }
        feed.poll([feed.entry("b", age: nil)])
        #expect(feed.poll(entries).actions == [.alert, .unchanged, .alert])
    }

    @Test func `the age of an entry counts from the end of its embargo`() {
        var feed = FollowedFeed.empty()
        feed.poll([], after: .seconds(5_000))
        var entry = feed.entry("a", age: .seconds(9_000))
        entry.embargo = .until(feed.now + .seconds(3_600))
        let result = feed.poll([entry])
        #expect(result.actions == [.alert])
        #expect(result.events.first?.embargoUntil == feed.now + .seconds(3_540))
        // The end of the embargo changes nothing, and neither does its later removal.
        entry.embargo = .none
        #expect(feed.poll([entry], after: .seconds(4_000)).actions == [.noise])
    }

    @Test func `of more than maxPerPoll new entries, only the newest are sent`() {
        var feed = FollowedFeed.empty { $0.maxPerPoll = 2 }
        let result = feed.poll(["c", "b", "a"].map { feed.entry($0) })
        #expect(result.actions == [.alert, .alert, .backlog])
        #expect(result.notes.count == 1)
        #expect(feed.poll(["c", "b", "a"].map { feed.entry($0) }).actions == [.unchanged, .unchanged, .unchanged])
    }

    @Test func `an entry that appeared while nobody polled goes to the backfill lane`() {
        var feed = FollowedFeed.empty()
        let entries = [feed.entry("b", age: .seconds(-35_000)), feed.entry("a", age: .seconds(-10_000))]
        let result = feed.poll(entries, after: .seconds(36_000))
        #expect(result.decisions.map(\.lane) == ["live", "backfill"])
    }

    /// The engine orders the versions of a story within one lane only.
    @Test(arguments: [true, false])
    func `later events of an entry that went to the backfill lane follow it there, except its recall`(isLate: Bool) {
        var feed = isLate ? FollowedFeed.empty() : FollowedFeed { $0.onFirstSight = .all }
        let publishedAt = feed.now + .seconds(isLate ? 10_000 : 0)
        func lanes(
            _ headline: String, _ status: NewsEvent.Status = .usable, after gap: Duration = .seconds(60)
        ) -> [String?] {
            var entry = feed.entry("a", headline)
            (entry.publishedAt, entry.status) = (publishedAt, status)
            return feed.poll([entry], after: gap).decisions.map(\.lane)
        }
        #expect(lanes("One", after: .seconds(36_000)) == ["backfill"])
        #expect(lanes("Two") == ["backfill"])
        #expect(lanes("Two", .withheld) == ["backfill"])
        #expect(lanes("Two") == ["backfill"])
        #expect(lanes("Three") == ["backfill"])
        #expect(lanes("Four") == [nil])
        #expect(feed.log.heldBack.values.map(\.intent.lane) == ["backfill"])
        #expect(lanes("Four", .canceled) == ["live"])
    }

    @Test func `without a backfill lane, old entries become known and are not sent`() {
        var first = FollowedFeed { $0.onFirstSight = .all }
        first.backfillLane = ""
        #expect(first.poll([first.entry("a")]).actions == [.backlog])
        var late = FollowedFeed.empty()
        late.backfillLane = ""
        let entry = late.entry("a")
        let result = late.poll([entry], after: .seconds(10_000))
        #expect(result.actions == [.stale])
        #expect(result.events.isEmpty)
        #expect(late.poll([entry]).actions == [.unchanged])
    }

    @Test func `a new entry at the end of a long feed is sent if the feed puts its newest entry last`() {
        var feed = FollowedFeed.empty()
        var entries = (0..<150).map { feed.entry("\($0)", age: .seconds(10_000 - 10 * $0)) }
        feed.poll(entries)
        entries.append(feed.entry("new"))
        #expect(feed.poll(entries).decisions.last?.action == .alert)
    }

    // MARK: - Withheld and recalled

    @Test func `a withheld entry waits until a later version frees it`() {
        var feed = FollowedFeed.empty()
        var entry = feed.entry("a")
        entry.embargo = .untilFurtherNotice
        #expect(feed.poll([entry]).actions == [.withheld])
        #expect(feed.poll([entry]).actions == [.unchanged])
        entry.embargo = .none
        #expect(feed.poll([entry]).actions == [.alert])
    }

    @Test func `a recall is always written, even of an entry that was never sent`() {
        var feed = FollowedFeed()
        feed.poll([feed.entry("a")])
        feed.poll([feed.entry("b"), feed.entry("a")])
        let gone = ["a", "b", "c"].map { id in
            var entry = feed.entry(id, age: .seconds(90_000))
            entry.status = .canceled
            return entry
        }
        let result = feed.poll(gone)
        #expect(result.actions == [.canceled, .canceled, .canceled])
        #expect(result.events.allSatisfy { $0.status == .canceled })
        #expect(
            Set(result.events.map { "\($0.id) \($0.version?.text ?? "")" }) == ["wire:a 1", "wire:b 2", "wire:c 1"])
        #expect(feed.poll(gone).actions == [.unchanged, .unchanged, .unchanged])
    }

    private static func canceled(_ ids: [String], in feed: FollowedFeed) -> [FeedEntry] {
        ids.map { id in
            var entry = feed.entry(id)
            entry.status = .canceled
            return entry
        }
    }

    /// Each recall takes one of the orders that all editors share.
    @Test func `recalls of entries that were not sent obey maxPerHour, and one of a sent entry is written at once`() {
        var feed = FollowedFeed.empty { $0.maxPerHour = 4 }
        feed.poll([feed.entry("sent")])
        let unsent = Self.canceled((0..<10).map { "\($0)" }, in: feed)
        let first = feed.poll(unsent)
        #expect((first.count(.canceled), first.count(.limited)) == (3, 7))
        #expect(first.isIncomplete)
        #expect(feed.poll(unsent).count(.limited) == 7)
        #expect(feed.poll(Self.canceled(["sent"], in: feed) + unsent).events.map(\.id) == ["wire:sent"])
        let next = feed.poll(unsent, after: .seconds(3_600))
        #expect((next.count(.canceled), next.count(.limited)) == (4, 3))
        let last = feed.poll(unsent, after: .seconds(3_600))
        #expect((last.count(.canceled), last.count(.limited), last.isIncomplete) == (3, 0, false))
    }

    @Test(arguments: [0, 3])
    func `recalls of entries that were not sent hold back no news of their document`(known: Int) {
        var feed = FollowedFeed { $0.maxPerHour = 2 }
        feed.poll((0..<known).map { feed.entry("\($0)") })
        let unsent = Self.canceled((0..<6).map { "\($0)" }, in: feed)
        let first = feed.poll(unsent + [feed.entry("news")])
        #expect(first.decisions.last?.action == .alert)
        #expect((first.count(.canceled), first.count(.limited)) == (1, 5))
    }

    @Test func `an alert that is held back is dropped while its recall waits`() {
        var feed = FollowedFeed.empty { $0.maxPerHour = 1 }
        #expect(feed.poll([feed.entry("b"), feed.entry("a")]).actions == [.alert, .limited])
        #expect(feed.poll(Self.canceled(["a"], in: feed)).actions == [.limited])
        #expect(feed.log.heldBack.isEmpty)
        #expect(feed.poll(Self.canceled(["a"], in: feed), after: .seconds(3_600)).actions == [.canceled])
    }

    @Test(arguments: [nil, "2"] as [String?])
    func `an alert that was held back is sent if its entry comes back before its recall was written`(version: String?) {
        var feed = FollowedFeed.empty { $0.maxPerHour = 1 }
        var entry = feed.entry("a")
        entry.version = version.map { _ in NewsEvent.Version("1") }
        feed.poll([feed.entry("b"), entry])
        var gone = entry
        (gone.status, gone.version) = (.canceled, version.map { NewsEvent.Version($0) })
        gone.updatedAt = feed.now
        #expect(feed.poll([gone]).actions == [.limited])
        // An old copy of the document does not bring it back.
        entry.updatedAt = feed.now - .seconds(600)
        #expect(feed.poll([entry], after: .seconds(3_600)).actions == [.unchanged])
        entry.updatedAt = feed.now
        entry.version = version.map { _ in NewsEvent.Version("3") }
        #expect(feed.poll([entry]).actions == [.alert])
    }

    @Test func `a prefix of the headline recalls or withholds the entry, as the feed's signals say`() {
        var feed = FollowedFeed.empty { $0.signals = [.kill: ["KILL"], .hold: ["HOLD"]] }
        feed.poll([feed.entry("a", "Storm")])
        #expect(feed.poll([feed.entry("a", "HOLD Storm")]).actions == [.withheld])
        #expect(feed.poll([feed.entry("a", "KILL Storm")]).actions == [.canceled])
    }

    // MARK: - Groups, memory

    @Test func `the same story in two feeds of a group is one event`() {
        var first = FollowedFeed.empty { $0.group = "wires" }
        let found = first.poll([first.entry("a", "Storm hits: coast!", link: "https://a.example/1")])
        var second = FollowedFeed.empty {
            $0.name = "other"
            $0.group = "wires"
        }
        for event in found.changes {
            second.group.note(
                link: event.state?.link ?? 0, title: event.state?.title ?? 0, feed: "wire", at: Minute.of(first.now))
        }
        let entry = second.entry("z", "Storm hits coast", link: "https://b.example/2")
        #expect(second.poll([entry]).actions == [.duplicate])
        #expect(second.poll([second.entry("y", "Another")]).actions == [.alert])
    }

    /// Another feed of the group has brought "Ten hurt" at `https://a.example/1`, and the entry is its duplicate.
    @Test(
        arguments: [
            ("Twelve hurt", "https://b.example/2", .update), ("TEN HURT!", "https://b.example/2", .noise),
            ("Known elsewhere", "https://b.example/2", .noise), ("Twelve hurt", "https://a.example/1", .noise),
            ("CORRECTED: Two hurt", "https://a.example/1", .update),
        ] as [(String, String, Decision.Action)])
    func `the next headline of a duplicate is news unless its story's feed or another one brings it`(
        headline: String, link: String, action: Decision.Action
    ) {
        var feed = FollowedFeed.empty {
            $0.group = "wires"
            $0.signals = [.correction: ["CORRECTED:"]]
        }
        for (text, link) in [("Ten hurt", "https://a.example/1"), ("Known elsewhere", "https://a.example/2")] {
            feed.group.note(
                link: StableHash.of(LinkKey.of(link)), title: StableHash.of(FoldedText.headline(text)), feed: "other",
                at: Minute.of(feed.now))
        }
        #expect(feed.poll([feed.entry("z", "Ten hurt", link: link)]).actions == [.duplicate])
        let next = feed.poll([feed.entry("z", headline, link: link)])
        #expect(next.actions == [action])
        #expect(next.events.map(\.id) == (action == .update ? ["wire:z"] : []))
        #expect(feed.poll([feed.entry("z", headline, link: link)]).actions == [.unchanged])
    }

    @Test func `the next headline of a duplicate is no news hours later`() {
        var feed = FollowedFeed.empty { $0.group = "wires" }
        let entry = feed.entry("z", "Ten hurt")
        feed.group.note(
            link: 0, title: StableHash.of(FoldedText.headline("Ten hurt")), feed: "other", at: Minute.of(feed.now))
        feed.poll([entry])
        let next = feed.poll([feed.entry("z", "Twelve hurt", age: .seconds(25_000))], after: .seconds(25_000))
        #expect(next.actions == [.noise])
    }

    @Test func `a story under embargo in one feed of a group does not keep back the free one of another`() {
        var memory = GroupMemory()
        memory.note(link: 1, title: 2, feed: "first", at: 160)
        func feed(due: UInt32, at now: UInt32) -> String? {
            memory.feed(thatBrought: 1, title: 2, besides: "second", by: due, at: now)
        }
        #expect(feed(due: 100, at: 100) == nil)
        #expect(feed(due: 170, at: 100) == "first")
        #expect(feed(due: 170, at: 170) == "first")
        // The free one is the first that readers get.
        memory.note(link: 1, title: 2, feed: "third", at: 100)
        #expect(feed(due: 101, at: 101) == "third")
        #expect(feed(due: 600, at: 600) == nil)
    }

    @Test func `a story under a long embargo does not make its group forget the others`() {
        var memory = GroupMemory()
        memory.note(link: 1, title: 2, feed: "first", at: 160)
        memory.note(link: 3, title: 4, feed: "first", due: 160 + 3 * GroupMemory.minutes, at: 161)
        #expect(memory.feed(thatBrought: 1, title: 2, besides: "second", by: 170, at: 170) == "first")
    }

    @Test func `an entry is forgotten after thirty days, but not while the document has it`() {
        var feed = FollowedFeed()
        feed.poll((0..<300).map { feed.entry("\($0)", age: nil) })
        feed.poll([feed.entry("5", age: nil)], after: .seconds(31 * 86_400))
        #expect(feed.entries.count == 100)
        #expect(feed.entries[EntryHash("5")] != nil)
    }

    @Test func `ten thousand feeds of a hundred entries fit into memory`() {
        #expect(MemoryLayout<EntryTable.Row>.stride <= 128)
    }

    @Test func `explain decides as if the feed had been empty when it was first read`() {
        let feed = FollowedFeed()
        var document = FeedDocument(format: .rss20, entries: [feed.entry("a"), feed.entry("b", age: .seconds(90_000))])
        document.skipped = [SkippedItem(id: "c", "it ends too early")]
        let decisions = Follower.explain(document, rules: feed.rules, at: FollowedFeed.start + .seconds(60))
        #expect(decisions.map(\.action) == [.alert, .stale, .unreadable])
        #expect(decisions.map(\.event?.id) == ["wire:a", "wire:b", nil])
    }
}
