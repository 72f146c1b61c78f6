import NewsModel
import Testing

@testable import Feeds

/// Changes of entries, and events beyond the limits of a feed.
@Suite struct FollowerChangeTests {
    // MARK: - Changes

    @Test(arguments: [
        (FeedRules.UpdatePolicy.headline, "Other", String?.none, Decision.Action.update),
        (.headline, "Storm", "other summary", .noise), (.any, "Storm", "other summary", .update),
        (.never, "Other", nil, .noise), (.headline, " Storm ", nil, .unchanged),
    ])
    func `the update policy decides whether a change is a new version or noise`(
        policy: FeedRules.UpdatePolicy, headline: String, summary: String?, action: Decision.Action
    ) {
        var feed = FollowedFeed.empty { $0.updates = policy }
        feed.poll([feed.entry("a", "Storm")])
        var entry = feed.entry("a", headline)
        entry.summary = summary
        let result = feed.poll([entry])
        #expect(result.actions == [action])
        #expect(result.events.map(\.version?.text) == (action == .update ? ["2"] : []))
    }

    @Test func `an update is marked as an update and makes no sound`() {
        var feed = FollowedFeed.empty { $0.signals = [.correction: ["CORRECTED:"], .refile: ["REFILE:"]] }
        feed.poll([feed.entry("a", "Storm")])
        let updated = feed.poll([feed.entry("a", "Big storm")]).events
        #expect(updated.first?.data == [NewsEvent.DataField(name: "update", value: "update")])
        #expect(updated.first?.urgency == EventMaker.updateUrgency)
        let corrected = feed.poll([feed.entry("a", "CORRECTED: small storm")]).events
        #expect(corrected.first?.data == [NewsEvent.DataField(name: "update", value: "correction")])
        // A refile repairs what no reader needs to be told.
        feed.poll([feed.entry("b", "Flood")])
        let refiled = feed.poll([feed.entry("b", "REFILE: flood in town")]).events
        #expect(refiled.first?.data == [NewsEvent.DataField(name: "update", value: "update")])
    }

    @Test func `another date alone is not a change`() {
        var feed = FollowedFeed.empty { $0.updates = .any }
        feed.poll([feed.entry("a")])
        #expect(feed.poll([feed.entry("a", age: .seconds(5))]).actions == [.unchanged])
    }

    @Test func `a headline in another normal form of Unicode is the same text`() {
        var feed = FollowedFeed.empty { $0.updates = .any }
        func poll(_ headline: String) -> [Decision.Action] {
            var entry = feed.entry("a", headline)
            entry.summary = headline
            return feed.poll([entry]).actions
        }
        #expect(poll("Orb\u{E1}n in Krak\u{F3}w") == [.alert])
        #expect(poll("Orba\u{301}n in Krako\u{301}w") == [.unchanged])
        #expect(FoldedText.headline("Orba\u{301}n") == FoldedText.headline("Orb\u{E1}n"))
    }

    @Test func `a correction that is taken back reaches readers`() {
        var feed = FollowedFeed.empty()
        feed.poll([feed.entry("a", "Right")])
        #expect(feed.poll([feed.entry("a", "Wrong")]).actions == [.update])
        let back = feed.poll([feed.entry("a", "Right")])
        #expect(back.events.map(\.headline) == ["Right"])
        #expect(back.events.map(\.version?.text) == ["3"])
    }

    @Test func `a hub that pushes a former text late brings it back only if a poll has it`() {
        var feed = FollowedFeed.empty { $0.maxVersionsPerHour = 100 }
        feed.poll([feed.entry("a", "Wrong")])
        feed.poll([feed.entry("a", "Right")])
        let late = feed.poll([feed.entry("a", "Wrong")], isPartial: true)
        #expect(late.actions == [.unchanged] && late.isIncomplete)
        #expect(feed.poll([feed.entry("a", "Right")]).actions == [.unchanged])
        #expect(feed.poll([feed.entry("a", "Newest")], isPartial: true).actions == [.update])
        #expect(feed.poll([feed.entry("a", "Right")]).events.map(\.headline) == ["Right"])
    }

    @Test func `a hub that pushes a former text with a later date brings it back at once`() {
        var feed = FollowedFeed.empty()
        for (headline, isPartial) in [("One", false), ("Two", false), ("One", true)] {
            var entry = feed.entry("a", headline)
            entry.updatedAt = feed.now
            #expect(feed.poll([entry], isPartial: isPartial).events.map(\.headline) == [headline])
        }
    }

    @Test(arguments: [NewsEvent.Status.canceled, .withheld])
    func `a hub that pushes a former copy late does not bring back what was withdrawn`(_ status: NewsEvent.Status) {
        var feed = FollowedFeed.empty()
        feed.poll([feed.entry("a")])
        var withdrawn = feed.entry("a")
        withdrawn.status = status
        #expect(feed.poll([withdrawn], isPartial: true).events.count == 1)
        #expect(feed.poll([feed.entry("a")], isPartial: true).events.isEmpty)
        #expect(feed.poll([feed.entry("a")]).events.count == 1)
    }

    @Test func `a hub that pushes a former copy late does not end an embargo`() {
        var feed = FollowedFeed.empty()
        for (minutes, isPartial, events) in [(10, false, 1), (60, false, 1), (10, true, 0), (10, false, 1)] {
            var entry = feed.entry("a")
            entry.embargo = .until(FollowedFeed.start + .seconds(minutes * 60))
            #expect(feed.poll([entry], isPartial: isPartial).events.count == events)
        }
    }

    @Test func `a hub that pushes a former copy under a former id does not end an embargo`() {
        var feed = FollowedFeed.empty()
        for (id, minutes, isPartial, events) in [
            ("a", 10, false, 1), ("b", 60, false, 1), ("a", 10, true, 0), ("a", 10, false, 1),
        ] as [(String, Int, Bool, Int)] {
            var entry = feed.entry(id)
            (entry.link, entry.headline) = ("https://example.org/quake", "Quake")
            entry.embargo = .until(FollowedFeed.start + .seconds(minutes * 60))
            #expect(feed.poll([entry], isPartial: isPartial).events.count == events)
        }
    }

    @Test func `a text that alternates is sent once it lasts, twice as long after each return`() {
        var feed = FollowedFeed.empty { $0.maxVersionsPerHour = 100 }
        for headline in ["One", "Two", "One"] { feed.poll([feed.entry("a", headline)]) }
        for minutes in [3, 6, 12, 24, 48, 60, 60] as [UInt32] {
            #expect(feed.poll([feed.entry("a", "Two")]).actions == [.limited])
            #expect(feed.log.heldBack.values.map(\.due) == [Minute.of(feed.now) + minutes])
            // A text that readers already have needs no event, and the waiting event is dropped.
            #expect(feed.poll([feed.entry("a", "One")]).actions == [.noise])
            #expect(feed.log.heldBack.isEmpty)
        }
        feed.poll([feed.entry("a", "Two")])
        #expect(feed.poll([feed.entry("a", "Two")]).actions == [.unchanged])
        #expect(feed.log.heldBack.count == 1)
        #expect(feed.poll([feed.entry("a", "Three")]).actions == [.update])
    }

    /// A cache answers one poll with a copy of yesterday, without dates.
    @Test(arguments: [3, 100]) func `the text that lasts follows an old copy within minutes`(most: Int) {
        var feed = FollowedFeed.empty { $0.maxVersionsPerHour = most }
        feed.feed.interval = .seconds(120)
        for headline in ["Ten hurt", "Two hurt", "Ten hurt"] {
            #expect(feed.poll([feed.entry("a", headline)]).events.count == 1)
        }
        #expect(feed.poll([feed.entry("a", "Two hurt")]).actions == [.limited])
        #expect(feed.log.heldBack.values.map(\.due) == [Minute.of(feed.now) + 4])
        // The return takes no room from the texts that follow.
        #expect(feed.poll([feed.entry("a", "Three hurt")]).actions == [.update])
    }

    @Test func `a text that returns after maxVersionsPerHour need not wait for the end of the hour`() {
        var feed = FollowedFeed.empty()
        for headline in ["Three hurt", "Two hurt", "Ten hurt"] { feed.poll([feed.entry("a", headline)]) }
        #expect(feed.poll([feed.entry("a", "Two hurt")]).actions == [.limited])
        #expect(feed.log.heldBack.values.map(\.due) == [Minute.of(feed.now) + 3])
    }

    /// A cache or a WebSub hub delivers a copy of an entry that is older than one delivered before.
    @Test func `an old copy does not replace a newer text unless it lasts`() {
        var feed = FollowedFeed.empty()
        func copy(_ headline: String, second: Int) -> FeedEntry {
            var entry = feed.entry("a", headline)
            entry.updatedAt = FollowedFeed.start + .seconds(second)
            return entry
        }
        feed.poll([copy("Ten hurt", second: 0)])
        #expect(feed.poll([copy("Two hurt", second: 30)]).actions == [.update])
        #expect(feed.poll([copy("Ten hurt", second: 0)]).actions == [.limited])
        #expect(feed.log.heldBack.values.map(\.due) == [Minute.of(feed.now) + 60])
        #expect(feed.poll([copy("Two hurt", second: 30)]).actions == [.noise])
        #expect(feed.log.heldBack.isEmpty)
        #expect(feed.poll([copy("Three hurt", second: 31)]).actions == [.update])
    }

    @Test(arguments: [NewsEvent.Status.canceled, .withheld])
    func `an old copy brings back nothing that was withdrawn or withheld`(status: NewsEvent.Status) {
        var feed = FollowedFeed.empty()
        var entry = feed.entry("a")
        entry.updatedAt = FollowedFeed.start
        feed.poll([entry])
        var ended = entry
        ended.status = status
        ended.updatedAt = FollowedFeed.start + .seconds(30)
        #expect(feed.poll([ended]).events.map(\.status) == [status])
        #expect(feed.poll([entry]).actions == [.unchanged])
        entry.updatedAt = FollowedFeed.start + .seconds(60)
        #expect(feed.poll([entry]).actions == [.update])
    }

    @Test func `beyond maxVersionsPerHour, only the last text waits for the end of the hour`() {
        var feed = FollowedFeed.empty()
        let began = Minute.of(feed.now + .seconds(60))
        let actions = (0..<5).map { number in feed.poll([feed.entry("a", "Text \(number)")]).actions[0] }
        #expect(actions == [.alert, .update, .update, .limited, .limited])
        let held = feed.log.heldBack.values.first
        #expect(held?.due == began + 60)
        #expect(held?.version == "4")
        #expect(held.map { String(decoding: $0.intent.event, as: UTF8.self).contains("Text 4") } == true)
        #expect(feed.poll([feed.entry("a", "Text 9")], after: .seconds(3_700)).actions == [.update])
        #expect(feed.log.heldBack.isEmpty)
    }

    @Test func `a recall is not held back, and drops the event that is`() {
        var feed = FollowedFeed.empty()
        for number in 0..<4 { feed.poll([feed.entry("a", "Text \(number)")]) }
        #expect(feed.log.heldBack.count == 1)
        var gone = feed.entry("a")
        gone.status = .canceled
        #expect(feed.poll([gone]).actions == [.canceled])
        #expect(feed.log.heldBack.isEmpty)
    }

    @Test func `a change to an entry that was never sent is noise`() {
        var feed = FollowedFeed()
        feed.poll([feed.entry("a", "Storm")])
        #expect(feed.poll([feed.entry("a", "Big storm")]).actions == [.noise])
    }

    @Test func `a higher version of the format is an update, and an equal or lower one is a repeat`() {
        var feed = FollowedFeed.empty()
        func version(_ version: String, _ headline: String) -> FeedEntry {
            var entry = feed.entry("urn:a", headline)
            entry.version = NewsEvent.Version(version)
            entry.story = "urn:story"
            return entry
        }
        let first = feed.poll([version("3", "Storm")])
        #expect(first.events.map(\.version?.text) == ["3"])
        #expect(first.events.map(\.orderKey) == ["urn:story"])
        #expect(feed.poll([version("3", "Other")]).actions == [.unchanged])
        #expect(feed.poll([version("2", "Older")]).actions == [.unchanged])
        #expect(feed.poll([version("10", "Newer")]).events.map(\.version?.text) == ["10"])
    }

    private func entry(_ feed: FollowedFeed, _ headline: String, version: String?, second: Int? = nil) -> FeedEntry {
        var entry = feed.entry("urn:a", headline)
        entry.version = version.map { NewsEvent.Version($0) }
        entry.updatedAt = second.map { FollowedFeed.start + .seconds($0) }
        return entry
    }

    // The second one is later, although its digits are not.
    private static let (early, late) = ("2026-11-29T02:50:00+02:00", "2026-11-29T02:10:00+01:00")
    private static let id = "9b2d5c1e-0f6a-4c2b-8f1d-3a7e5b9c0d42"

    @Test(
        arguments: [
            ["1.9", "1.10", "1.11"], ["draft-9", "draft-10", "draft-11"], [id, "1f0e-7a", "7d-c0de"],
            ["3", nil, "4"], [nil, "1", "2"], [early, late, "2026-11-30"], ["v9", "3", "final"],
            ["99999999999999999999", "100000000000000000000", nil],
        ] as [[String?]])
    func `another text under another version is an update, however the publisher counts`(versions: [String?]) {
        var feed = FollowedFeed.empty()
        var last: NewsEvent.Version?
        for (number, version) in versions.enumerated() {
            let result = feed.poll([entry(feed, "Text \(number)", version: version)])
            #expect(result.actions == [number == 0 ? .alert : .update])
            let new = result.events.first?.version
            if let last, let new { #expect(last < new) }
            last = new
            #expect(feed.poll([entry(feed, "Text \(number)", version: version)]).events.isEmpty)
        }
    }

    @Test(arguments: [[early, late], ["1.9", "1.10"], ["draft-9", "draft-10"], ["1.9.1", "1.10"], ["9", "10"]])
    func `an older version is not sent, and is reported`(versions: [String]) {
        var feed = FollowedFeed.empty()
        for (number, version) in versions.enumerated() { feed.poll([entry(feed, "Text \(number)", version: version)]) }
        let result = feed.poll([entry(feed, "Text 0", version: versions[0], second: 60)])
        #expect(result.events.isEmpty)
        #expect(result.notes.count == 1)
        #expect(feed.poll([entry(feed, "Text 1", version: versions[1])]).events.isEmpty)
    }

    @Test(arguments: [(30, Decision.Action.update), (0, .unchanged), (-30, .unchanged)])
    func `a later date makes another text under the same version an update`(second: Int, action: Decision.Action) {
        var feed = FollowedFeed.empty()
        feed.poll([entry(feed, "Ten hurt", version: "3", second: 0)])
        let result = feed.poll([entry(feed, "Two hurt", version: "3", second: second)])
        #expect(result.actions == [action])
        #expect(result.notes.isEmpty == (action == .update))
    }

    @Test func `an earlier date decides where versions cannot be compared`() {
        var feed = FollowedFeed.empty()
        feed.poll([entry(feed, "Two hurt", version: Self.id, second: 30)])
        #expect(feed.poll([entry(feed, "Ten hurt", version: "f" + Self.id, second: 0)]).actions == [.limited])
        #expect(feed.poll([entry(feed, "Two hurt", version: Self.id, second: 30)]).actions == [.noise])
        #expect(feed.log.heldBack.isEmpty)
    }

    @Test(arguments: [FeedRules.UpdatePolicy.headline, .any])
    func `a version that changes with each poll does not escape maxVersionsPerHour`(policy: FeedRules.UpdatePolicy) {
        var feed = FollowedFeed.empty { $0.updates = policy }
        let began = Minute.of(feed.now + .seconds(60))
        for number in 0..<20 {
            let result = feed.poll([entry(feed, "Text \(number)", version: "\(number)", second: number)])
            #expect(result.events.count == (number < 3 ? 1 : 0))
        }
        let held = feed.log.heldBack.values.first
        #expect(held?.due == began + 60)
        #expect(held.map { String(decoding: $0.intent.event, as: UTF8.self).contains("Text 19") } == true)
        // The text that readers have needs no event.
        #expect(feed.poll([entry(feed, "Text 2", version: "20", second: 20)]).actions == [.noise])
        #expect(feed.log.heldBack.isEmpty)
    }

    @Test func `an event's version stays bounded and goes forward, however often the publisher's is random`() {
        var state = EntryState()
        state.version = String(repeating: "z", count: EventLimits.version)
        for number in 0..<2_000 {
            let own = NewsEvent.Version("\(2_000 - number)-" + Self.id)
            let next = state.nextVersion(own)
            #expect(NewsEvent.Version(state.version) < next && next.text.utf8.count <= EventLimits.version)
            state.setVersion(next, publishers: own)
            #expect(state.publishersVersion == own)
        }
    }

    // MARK: - Floods

    @Test func `alerts and updates beyond maxPerHour are held back, over polls and pushes`() {
        var feed = FollowedFeed.empty { $0.maxPerHour = 3 }
        let entries = ["d", "c", "b", "a"].map { feed.entry($0) }
        #expect(feed.poll(entries).actions == [.alert, .alert, .alert, .limited])
        #expect(feed.feed.cappedAt == feed.now)
        #expect(feed.poll(entries).actions == [.unchanged, .unchanged, .unchanged, .unchanged])
        #expect(feed.poll([feed.entry("e")], isPartial: true).actions == [.limited])
        var edited = entries
        edited[0].headline = "Corrected"
        let result = feed.poll([feed.entry("e")] + edited)
        #expect(result.actions == [.unchanged, .limited, .unchanged, .unchanged, .unchanged])
        #expect(result.notes.count == 1)
        #expect(feed.log.heldBack.count == 3)
        // An alert is dropped once its entry has left the feed. A correction of a sent event is kept.
        for _ in 0..<2 { feed.poll([feed.entry("f")]) }
        #expect(feed.log.heldBack.keys.count { feed.entries[$0]?.standing == .sent } == 1)
        #expect(feed.log.heldBack.keys.count { feed.entries[$0]?.standing == .waiting } == 1)
        #expect(feed.poll([feed.entry("g")], after: .seconds(3_700)).actions == [.alert])
    }

    /// The document that lacks the entry is complete, cut off or empty.
    @Test(
        arguments: [
            ([FeedEntry(id: "a", headline: "Old")], false), ([FeedEntry(id: "a", headline: "Old")], true), ([], false),
        ] as [([FeedEntry], Bool)])
    func `an alert that is held back survives one document without its entry`(
        _ entries: [FeedEntry], isCutOff: Bool
    ) throws {
        var feed = FollowedFeed.empty { $0.maxPerHour = 0 }
        let waiting = feed.entry("b")
        feed.poll([waiting, FeedEntry(id: "a", headline: "Old")])
        feed.poll(entries, isCutOff: isCutOff)
        #expect(feed.entries[EntryHash("b")]?.standing == .waiting)
        feed.poll([waiting, FeedEntry(id: "a", headline: "Old")])
        let held = try #require(feed.log.heldBack[EntryHash("b")])
        #expect(!held.isMissing)
        // Only complete documents count.
        for _ in 0..<2 { feed.poll(entries, isCutOff: isCutOff) }
        #expect((feed.entries[EntryHash("b")]?.standing == .waiting) == (entries.isEmpty || isCutOff))
    }

    /// Otherwise a feed whose entries are always new would send more than `maxPerHour`.
    @Test func `an entry with an event within the hour is not forgotten`() throws {
        var table = EntryTable()
        // In the table's order, because an insertion elsewhere moves all later entries.
        for number in 0...EntryTable.rowsMax {
            let digits = String(number, radix: 16)
            let hash = try #require(EntryHash(hexadecimal: String(repeating: "0", count: 32 - digits.count) + digits))
            table[hash] = EntryState()
            table[hash]?.lastSeen = UInt32(number)
            if number == 0 { table[hash]?.countVersion(at: 20_000) }
        }
        let forgotten = { minute in table.forgettable(documentLength: 1, seen: [], at: minute) }
        #expect(forgotten(20_059) == [table.rows[1].hash])
        #expect(forgotten(20_060) == [table.rows[0].hash])
        #expect(table.sent(inHourOf: 20_059) == 1)
    }

    @Test func `held-back events are bounded, and entries beyond the bound are examined again`() {
        var feed = FollowedFeed.empty {
            $0.maxPerHour = 1
            $0.maxPerPoll = 1_000
        }
        let first = (0..<100).map { feed.entry("\($0)") }
        #expect(feed.poll(first).count(.limited) == 99)
        let more = (100..<120).map { feed.entry("\($0)") } + first
        let result = feed.poll(more)
        #expect(result.count(.limited) == 20 && result.notes.count == 2)
        #expect(feed.log.heldBack.count == Follower.heldBackMax && feed.entries.count == 101)
        #expect(feed.poll(more, after: .seconds(3_601)).count(.alert) == 1)
    }

    @Test func `entries sent at first sight do not count against maxPerHour`() {
        var feed = FollowedFeed {
            $0.maxPerHour = 1
            $0.onFirstSight = .last(3)
        }
        #expect(feed.poll(["c", "b", "a"].map { feed.entry($0) }).events.count == 3)
        #expect(feed.poll([feed.entry("d")]).actions == [.alert])
    }
}
