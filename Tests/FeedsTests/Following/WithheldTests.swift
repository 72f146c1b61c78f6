import NewsModel
import Testing

@testable import Feeds

/// Entries that the publisher withholds after they were alerted, and entries that cannot become events at first.
struct WithheldTests {
    private func entry(
        _ feed: FollowedFeed, _ headline: String? = nil, version: String?, isWithheld: Bool = false,
        embargo: Duration? = nil
    ) -> FeedEntry {
        var entry = feed.entry("a", headline)
        entry.version = version.map { NewsEvent.Version($0) }
        if isWithheld { entry.status = .withheld }
        if let embargo { entry.embargo = .until(feed.now + .seconds(60) + embargo) }
        return entry
    }

    @Test(arguments: ["2", nil, "1"] as [String?])
    func `an alert that is withheld later is followed by a withheld event, with or without a new version`(
        _ version: String?
    ) {
        var feed = FollowedFeed.empty()
        #expect(feed.poll([entry(feed, version: version == nil ? nil : "1")]).actions == [.alert])
        let withheld = feed.poll([entry(feed, version: version, isWithheld: true)])
        #expect(withheld.actions == [.withheld])
        #expect(withheld.events.map(\.status) == [.withheld])
        #expect(withheld.events.map(\.version?.text) == ["2"])
        #expect(feed.poll([entry(feed, version: version, isWithheld: true)]).events.isEmpty)
    }

    @Test func `an entry that becomes a draft withholds its alert, and a draft is news once it is published`() throws {
        var feed = FollowedFeed.empty()
        func poll(isDraft: Bool) throws -> Following {
            let draft = isDraft ? "<p:control><p:draft>yes</p:draft></p:control>" : ""
            let namespaces = "xmlns='http://www.w3.org/2005/Atom' xmlns:p='http://www.w3.org/2007/app'"
            let entry = "<entry><id>a</id><title>Storm</title>\(draft)</entry>"
            return feed.poll(try Samples.read("<feed \(namespaces)>\(entry)</feed>").entries)
        }
        let actions = try [true, false, true, false].map { try poll(isDraft: $0).actions }
        #expect(actions == [[.withheld], [.alert], [.withheld], [.update]])
    }

    /// The clocks of a publisher's machines differ. Some publishers have no other version than the time of a change.
    @Test(
        arguments: [("1", "2"), ("1", "1"), (nil, nil), ("2026-09-21T14:13:20Z", "2026-09-21T14:13:18Z")]
            as [(String?, String?)])
    func `a hold counts although its date of change is earlier`(first: String?, second: String?) {
        for (limit, isCorrected) in [(20, false), (0, false), (20, true)] {
            var feed = FollowedFeed.empty { $0.maxPerHour = limit }
            var alert = entry(feed, version: first, embargo: .seconds(3_600))
            alert.updatedAt = feed.now
            feed.poll([alert])
            var hold = entry(
                feed, isCorrected ? "Corrected" : nil, version: second, isWithheld: true, embargo: .seconds(7_200))
            hold.updatedAt = feed.now - .seconds(2)
            let withheld = feed.poll([hold])
            #expect(withheld.actions == [.withheld] && feed.log.heldBack.isEmpty)
            #expect(withheld.events.map(\.status) == (limit == 0 ? [] : [.withheld]))
            #expect(feed.poll([hold]).events.isEmpty)
        }
    }

    @Test(arguments: [Duration.zero, .seconds(7_200)])
    func `an entry that is free again is an alert if its embargo had kept the first one, and else an update`(
        embargo: Duration
    ) {
        var feed = FollowedFeed.empty()
        feed.poll([entry(feed, version: "1", embargo: embargo == .zero ? nil : embargo)])
        feed.poll([entry(feed, version: "2", isWithheld: true)])
        let free = feed.poll([entry(feed, version: "3")])
        #expect(free.actions == [embargo == .zero ? .update : .alert])
        #expect(free.events.map(\.version?.text) == ["3"])
        #expect(feed.poll([entry(feed, version: "3")]).actions == [.unchanged])
    }

    /// Version 1 comes again with a later date.
    @Test(arguments: ["1", "2", nil] as [String?], [true, false])
    func `an alert that waits for its embargo is withheld if a new copy of its entry cannot become an event`(
        _ version: String?, hasFault: Bool
    ) {
        var feed = FollowedFeed.empty()
        var first = entry(feed, version: version == nil ? nil : "1", embargo: .seconds(600))
        first.updatedAt = feed.now
        feed.poll([first])
        var unread = entry(feed, hasFault ? "Corrected" : nil, version: version, embargo: .seconds(4_200))
        unread.updatedAt = feed.now + .seconds(60)
        var corrected = unread
        corrected.headline = "Corrected"
        if hasFault { unread.fault = "the item cannot be read" } else { unread.headline = nil }
        let withheld = feed.poll([unread])
        #expect(withheld.events.map(\.status) == [.withheld])
        #expect(withheld.events.map(\.version?.text) == ["2"])
        #expect(withheld.notes.count == 1 && withheld.notes.allSatisfy { $0.contains("embargo") && $0.contains("`a`") })
        let again = feed.poll([unread])
        #expect(again.actions == [.unchanged] && again.notes.isEmpty)
        #expect(feed.poll([first]).events.isEmpty)
        let free = feed.poll([corrected])
        #expect(free.actions == [.alert])
        #expect(free.events.map(\.headline) == ["Corrected"] && free.events.map(\.version?.text) == ["3"])
    }

    @Test func `the first five of many alerts withheld for a copy that cannot become an event are named`() {
        var feed = FollowedFeed.empty()
        var entries = (1...7).map { feed.entry("urn:\($0)") }
        for index in entries.indices { entries[index].embargo = .until(feed.now + .seconds(3_600)) }
        #expect(feed.poll(entries).events.count == 7)
        for index in entries.indices { entries[index].fault = "the item cannot be read" }
        let note = feed.poll(entries).notes.first { $0.hasPrefix("7 alerts under embargo withheld") } ?? ""
        #expect(note.contains("`urn:1`, `urn:2`, `urn:3`, `urn:4`, `urn:5` and 2 more. "))
        #expect(note.hasSuffix("once the feed's copy can be read. The fault of the first: the item cannot be read"))
    }

    @Test func `an alert under embargo that a limit holds back is dropped if a new copy cannot become an event`() {
        var feed = FollowedFeed.empty { $0.maxPerHour = 0 }
        feed.poll([entry(feed, version: "1", embargo: .seconds(600))])
        var unread = entry(feed, version: "2", embargo: .seconds(4_200))
        unread.fault = "the item cannot be read"
        #expect(feed.poll([unread]).actions == [.withheld])
        #expect(feed.log.heldBack.isEmpty)
        #expect(feed.poll([entry(feed, version: "2", embargo: .seconds(4_200))]).actions == [.limited])
    }

    @Test func `a copy that cannot become an event changes nothing once the embargo has ended`() {
        var feed = FollowedFeed.empty()
        feed.poll([entry(feed, version: "1", embargo: .seconds(60))])
        var unread = entry(feed, version: "2")
        unread.fault = "the item cannot be read"
        #expect(feed.poll([unread], after: .seconds(3_600)).actions == [.unreadable])
        #expect(feed.poll([entry(feed, "Corrected", version: "2")]).actions == [.update])
    }

    @Test func `the publisher's next version is news after an event for which it had made none`() {
        var feed = FollowedFeed.empty { $0.maxVersionsPerHour = 100 }
        feed.poll([entry(feed, version: "1")])
        // The event takes version 2, which the publisher uses later.
        feed.poll([entry(feed, version: "1", isWithheld: true)])
        #expect(feed.poll([entry(feed, version: "1")]).actions == [.unchanged])
        let free = feed.poll([entry(feed, "Another headline", version: "2")])
        #expect(free.actions == [.update])
        #expect(free.events.map(\.version?.text) == ["3"])
        #expect(feed.poll([entry(feed, "Another headline", version: "2")]).actions == [.unchanged])
        #expect(feed.poll([entry(feed, "The last headline", version: "3")]).events.map(\.version?.text) == ["4"])
        #expect(feed.poll([entry(feed, "The last headline", version: "9")]).events.isEmpty)
        #expect(feed.poll([entry(feed, "Really the last", version: "10")]).events.map(\.version?.text) == ["10"])
    }

    @Test func `an embargo that is prolonged under the same version delays the alert`() {
        var feed = FollowedFeed.empty()
        feed.poll([entry(feed, version: "1", embargo: .seconds(600))])
        let delayed = feed.poll([entry(feed, version: "1", embargo: .seconds(7_200))])
        #expect(delayed.events.map(\.version?.text) == ["2"])
        #expect(delayed.events.map(\.embargoUntil) == [feed.now + .seconds(7_200)])
        // An old copy of the document changes nothing.
        #expect(feed.poll([entry(feed, version: "1", embargo: .seconds(60))]).events.isEmpty)
    }

    /// The polls of the fixture are at 20 seconds past a minute.
    @Test(arguments: ["1", nil] as [String?])
    func `an embargo that is prolonged within its minute delays the alert`(version: String?) {
        var feed = FollowedFeed.empty()
        feed.poll([entry(feed, version: version, embargo: .seconds(610))])
        let end = feed.now + .seconds(60 + 575)
        #expect(Minute.after(end) == feed.entries.rows.first?.state.embargo)
        let delayed = feed.poll([entry(feed, version: version, embargo: .seconds(575))])
        #expect(delayed.events.map(\.embargoUntil) == [end])
        #expect(feed.poll([entry(feed, version: version, embargo: .seconds(515))]).events.isEmpty)
    }

    /// Former versions stored the minute of an embargo only.
    @Test func `an embargo of which only the minute is known has not changed within that minute`() throws {
        var feed = FollowedFeed.empty()
        feed.poll([entry(feed, version: nil, embargo: .seconds(600))])
        let row = try #require(feed.entries.rows.first)
        var record = EntryRecord(state: row.state, name: feed.log.names[row.hash], writer: "test")
        record.state.embargoSecond = 0
        feed.log.fold(row.hash, record)
        #expect(feed.poll([entry(feed, version: nil, embargo: .seconds(540))]).events.isEmpty)
        #expect(feed.poll([entry(feed, version: nil, embargo: .seconds(490))]).events.count == 1)
    }

    @Test(arguments: ["1", "2", nil] as [String?])
    func `an alert that is held back gets an embargo that the publisher sets meanwhile`(version: String?) throws {
        var feed = FollowedFeed.empty { $0.maxPerHour = 0 }
        feed.poll([entry(feed, version: version == nil ? nil : "1")])
        let end = feed.now + .seconds(3_660)
        let delayed = feed.poll([entry(feed, version: version, embargo: .seconds(3_600))])
        #expect(delayed.actions == [.limited])
        let held = try #require(feed.log.heldBack[EntryHash("a")])
        #expect(String(decoding: held.intent.event, as: UTF8.self).contains(#""embargoUntil":"\#(end)""#))
    }

    @Test func `an old copy does not end the embargo of an alert that is held back`() {
        var feed = FollowedFeed.empty { $0.maxPerHour = 0 }
        var delayed = entry(feed, version: nil, embargo: .seconds(3_600))
        delayed.updatedAt = feed.now
        feed.poll([delayed])
        var copy = entry(feed, version: nil)
        copy.updatedAt = feed.now - .seconds(600)
        #expect(feed.poll([copy]).actions == [.unchanged])
    }

    @Test(arguments: [Duration.zero, .seconds(7_200)])
    func `a correction is an alert while the embargo of the first text lasts`(embargo: Duration) {
        var feed = FollowedFeed.empty()
        feed.poll([entry(feed, version: "1", embargo: .seconds(3_600))])
        let corrected = feed.poll(
            [entry(feed, "Corrected", version: "2", embargo: embargo == .zero ? nil : embargo)])
        #expect(corrected.events.map(\.urgency) == [nil] && corrected.events.allSatisfy { $0.data.isEmpty })
        let update = feed.poll([entry(feed, "Corrected again", version: "3")], after: .seconds(10_000))
        #expect(update.events.map(\.urgency) == [5])
    }

    @Test func `embargoes that come and go make no more events than the limits allow`() throws {
        var feed = FollowedFeed.empty { $0.maxPerHour = 5 }
        feed.poll([entry(feed, version: nil)])
        let hour = Minute.of(feed.now)
        var events: [NewsEvent] = []
        for poll in 0..<20 {
            let embargo = poll % 2 == 0 ? Duration.seconds(120) : nil
            events += feed.poll([entry(feed, version: nil, embargo: embargo)]).events
        }
        #expect(events.map(\.status) == [.usable, .usable, .withheld])
        #expect(events.map { $0.embargoUntil == nil } == [false, true, false])
        let held = try #require(feed.log.heldBack[EntryHash("a")])
        #expect(held.due == hour + 60)
        #expect(!String(decoding: held.intent.event, as: UTF8.self).contains("embargoUntil"))
    }

    @Test func `an embargo that ends early while a limit holds the feed ends when the limit allows it`() {
        var feed = FollowedFeed.empty { $0.maxPerHour = 1 }
        let end = feed.now + .seconds(7_200)
        var delayed = entry(feed, version: nil)
        delayed.embargo = .until(end)
        feed.poll([delayed])
        let early = feed.poll([entry(feed, version: nil)])
        #expect(early.actions == [.limited])
        // The event that waits for its embargo may come first, and then another one would repeat it.
        #expect(early.isIncomplete && feed.log.heldBack.isEmpty)
        let free = feed.poll([entry(feed, version: nil)], after: .seconds(3_600))
        #expect(free.events.map(\.embargoUntil) == [nil])
        #expect(free.events.map(\.urgency) == [nil])
    }

    @Test func `an alert whose embargo is prolonged beyond a limit is withheld until the limit allows the next event`()
    {
        var fixture = IngesterFixture()
        fixture.settings.feeds[0].maxPerHour = 1
        fixture.settings.feeds[0].updates = .any
        fixture.live(as: "first")
        fixture.publish("a")
        func change(_ version: String, embargo: Int) {
            fixture.document[0].version = NewsEvent.Version(version)
            fixture.document[0].embargo = .until(fixture.now + .seconds(embargo))
        }
        change("1", embargo: 600)
        fixture.live(as: "second")
        change("2", embargo: 7_200)
        fixture.live(as: "third", polls: 2)
        let withheld = fixture.written.map { String(decoding: $0.value, as: UTF8.self).contains(#""withheld""#) }
        #expect(withheld == [false, true])
        fixture.now = fixture.now + .seconds(3_600)
        fixture.live(as: "fourth", polls: 2)
        // Version 2 of the publisher became the third event, and is not newer than itself.
        for writer in ["fifth", "sixth"] {
            fixture.now = fixture.now + .seconds(3_600)
            fixture.live(as: writer, polls: 2)
        }
        fixture.document[0].version = NewsEvent.Version("3")
        fixture.document[0].headline = "Corrected"
        fixture.live(as: "seventh", polls: 2)
        let texts = ["1 Headline of a", "2 Headline of a", "3 Headline of a", "4 Corrected"]
        #expect(fixture.texts == texts.map { "wire:a \($0)" })
    }

    /// A limit holds back the event with the second embargo.
    @Test func `a hold or a third embargo under the same version applies to what a limit holds back`() throws {
        var feed = FollowedFeed.empty { $0.maxPerHour = 1 }
        feed.poll([entry(feed, version: "5", embargo: .seconds(600))])
        #expect(feed.poll([entry(feed, version: "5", embargo: .seconds(7_200))]).actions == [.withheld])
        let end = feed.now + .seconds(9_060)
        #expect(feed.poll([entry(feed, version: "5", embargo: .seconds(9_000))]).actions == [.limited])
        let held = try #require(feed.log.heldBack[EntryHash("a")])
        #expect(String(decoding: held.intent.event, as: UTF8.self).contains(#""embargoUntil":"\#(end)""#))
        #expect(feed.poll([entry(feed, version: "5", isWithheld: true)]).actions == [.withheld])
        #expect(feed.log.heldBack.isEmpty)
        #expect(feed.poll([entry(feed, version: "5")]).events.isEmpty)
        #expect(feed.poll([entry(feed, version: "6")], after: .seconds(3_600)).actions == [.alert])
    }

    @Test func `a later embargo is written at once if no more events can be held back`() {
        var feed = FollowedFeed.empty {
            $0.maxPerHour = 1
            $0.maxPerPoll = 1_000
        }
        feed.poll([entry(feed, version: "1", embargo: .seconds(600))])
        let others = (0..<Follower.heldBackMax).map { feed.entry("\($0)") }
        feed.poll(others + [entry(feed, version: "1", embargo: .seconds(540))])
        #expect(feed.log.heldBack.count == Follower.heldBackMax)
        let delayed = feed.poll(others + [entry(feed, version: "1", embargo: .seconds(7_200))])
        #expect(delayed.events.map(\.status) == [.usable])
        #expect(delayed.events.map(\.embargoUntil) == [feed.now + .seconds(7_200)])
    }

    /// The entry continues with a headline of its own, which a limit holds back.
    @Test func `a duplicate is not sent if it is withheld while its own text is held back`() {
        var feed = FollowedFeed.empty {
            $0.group = "wires"
            $0.maxPerHour = 0
        }
        feed.group.note(
            link: 0, title: StableHash.of(FoldedText.headline("Ten hurt")), feed: "other", at: Minute.of(feed.now))
        #expect(feed.poll([entry(feed, "Ten hurt", version: nil)]).actions == [.duplicate])
        #expect(feed.poll([entry(feed, "Two hurt", version: nil)]).actions == [.limited])
        #expect(feed.poll([entry(feed, "Two hurt", version: nil, isWithheld: true)]).actions == [.withheld])
        #expect(feed.log.heldBack.isEmpty)
    }

    @Test func `an entry that is free again under the version that was withheld is reported`() {
        var feed = FollowedFeed.empty()
        feed.poll([entry(feed, version: "1")])
        feed.poll([entry(feed, version: "2", isWithheld: true)])
        let free = feed.poll([entry(feed, version: "2")])
        #expect(free.events.isEmpty)
        #expect(free.notes.count == 1)
    }

    @Test func `an entry that is withheld again while the limit of its feed holds its release back stays withheld`() {
        var feed = FollowedFeed.empty { $0.maxPerHour = 1 }
        feed.poll([entry(feed, version: "1")])
        feed.poll([entry(feed, version: "2", isWithheld: true)])
        #expect(feed.poll([entry(feed, version: "3")]).actions == [.limited])
        #expect(feed.poll([entry(feed, version: "4", isWithheld: true)]).actions == [.withheld])
        #expect(feed.log.heldBack.isEmpty)
        // An old copy does not free it.
        #expect(feed.poll([entry(feed, version: "3")]).actions == [.unchanged])
    }

    @Test func `versions ahead of the publisher's survive a change of the owner`() throws {
        var state = EntryState()
        state.setVersion(NewsEvent.Version("7"), publishers: NewsEvent.Version("5"))
        let record = EntryRecord(state: state, writer: "w")
        let parser = JSONParser()
        let restored = try withExtendedLifetime(parser) {
            try record.bytes.withUnsafeBufferPointer { EntryRecord(try parser.object(in: $0)) }
        }
        #expect(restored?.state.publishersVersion.text == "5")
        #expect(restored?.state == state)
    }

    @Test(arguments: [Duration?.some(.zero), nil])
    func `an entry without a headline becomes news once it has one, however far down it is by then`(age: Duration?) {
        var feed = FollowedFeed.empty()
        var entry = feed.entry("a", age: age)
        entry.headline = nil
        let first = feed.poll([entry])
        #expect(first.actions == [.unreadable])
        #expect(first.notes.count == 1)
        let newer = feed.entry("b", age: age)
        let second = feed.poll([newer, entry])
        #expect(second.actions == [.alert, .unchanged])
        #expect(second.notes.isEmpty)
        entry.headline = "It has a headline now"
        #expect(feed.poll([newer, entry]).actions == [.unchanged, .alert])
    }

    @Test func `new entries with dates older than maxAge are reported once for each document`() {
        var feed = FollowedFeed.empty { $0.maxAge = .seconds(3_600) }
        feed.poll([feed.entry("a")], after: .seconds(3_000))
        feed.poll([feed.entry("a", age: .seconds(3_000))], after: .seconds(3_000))
        feed.poll([feed.entry("a", age: .seconds(6_000))], after: .seconds(3_000))
        let known = feed.entry("a", age: .seconds(6_060))
        let late = feed.poll([feed.entry("c", age: .seconds(4_000)), feed.entry("b", age: .seconds(5_000)), known])
        #expect(late.actions.prefix(2) == [.stale, .stale])
        let note = "2 new entries came with dates older than `maxAge`, the newest 66 min old: not sent. "
        #expect(late.notes == [note + "If its dates are in another zone, set `zone`"])
        let again = [feed.entry("c", age: .seconds(4_060)), feed.entry("b", age: .seconds(5_060)), known]
        #expect(feed.poll(again).notes.isEmpty)
    }

    @Test func `an entry without a headline at the first reading is not news when it has one`() {
        var feed = FollowedFeed()
        var entry = feed.entry("a", age: nil)
        entry.headline = nil
        #expect(feed.poll([entry]).actions == [.backlog])
        entry.headline = "It has a headline now"
        #expect(feed.poll([entry]).events.isEmpty)
    }
}
