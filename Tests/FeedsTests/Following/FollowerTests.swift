import NewsModel
import Testing

@testable import Feeds

/// A feed that is followed poll by poll, as the ingester does it.
struct FollowedFeed {
    var rules: FeedRules
    var feed = FeedState()
    var log = EntryLog()
    var entries: EntryTable { log.table }
    var group = GroupMemory()
    var now: Instant
    var backfillLane = "backfill"

    init(_ change: (inout FeedRules) -> Void = { _ in }) {
        rules = FeedRules(name: "wire", url: "https://example.org/feed")
        rules.category = "World"
        change(&rules)
        now = Self.start
    }

    static let start = Instant(nanoseconds: 1_790_000_000_000_000_000)

    /// A feed whose first reading was an empty document.
    static func empty(_ change: (inout FeedRules) -> Void = { _ in }) -> FollowedFeed {
        var feed = FollowedFeed(change)
        feed.poll([])
        return feed
    }

    @discardableResult
    mutating func poll(
        _ entries: [FeedEntry], after gap: Duration = .seconds(60), isPartial: Bool = false
    ) -> Following {
        now = now + gap
        let result = Follower.follow(
            FeedDocument(format: .rss20, entries: entries), rules: rules, feed: feed, log: log, group: group,
            lane: "live", backfillLane: backfillLane, isPartial: isPartial, at: now)
        feed = result.feed
        feed.lastSuccessAt = now
        for change in result.changes {
            let before = log.heldBack[change.hash]
            let record = change.state.map { state in
                var record = EntryRecord(
                    state: state, name: change.name, writer: "test", former: change.former)
                switch change.heldBack {
                case .kept: record.heldBack = before
                case .dropped: break
                case .replaced(let held): record.heldBack = held
                }
                return record
            }
            log.fold(change.hash, record)
        }
        return result
    }

    /// An entry published `age` before the next poll.
    func entry(
        _ id: String, _ headline: String? = nil, link: String? = nil, age: Duration? = .zero
    ) -> FeedEntry {
        var entry = FeedEntry(id: id, headline: headline ?? "Headline of \(id)")
        entry.link = link ?? "https://example.org/\(id)"
        entry.publishedAt = age.map { now + .seconds(60) - $0 }
        return entry
    }
}

extension Following {
    var actions: [Decision.Action] { decisions.map(\.action) }
    var events: [NewsEvent] { changes.compactMap(\.event?.event) }
}

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
        #expect(result.actions == [.alert])
        #expect(result.events.map(\.id) == ["wire:a"])
        #expect(result.events.map(\.version?.text) == ["1"])
        #expect(result.events.map(\.categories) == [["World"]])
    }

    @Test func `the newest entries are sent at first sight, oldest first, if the feed says so`() {
        var feed = FollowedFeed { $0.onFirstSight = .last(2) }
        let result = feed.poll([feed.entry("c", age: .zero), feed.entry("b", age: .seconds(60)), feed.entry("a")])
        #expect(result.actions == [.alert, .alert, .backlog])
        #expect(result.events.map(\.id) == ["wire:b", "wire:c"])
    }

    @Test func `all entries go to the backfill lane at first sight if the feed says so`() {
        var feed = FollowedFeed { $0.onFirstSight = .all }
        let result = feed.poll([feed.entry("b"), feed.entry("a")])
        #expect(result.decisions.map(\.lane) == ["backfill", "backfill"])
        feed = FollowedFeed { $0.onFirstSight = .all }
        feed.backfillLane = ""
        #expect(feed.poll([feed.entry("a")]).actions == [.backlog])
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

    @Test func `an entry older than the first reading is stale`() {
        var feed = FollowedFeed.empty()
        #expect(feed.poll([feed.entry("a", age: .seconds(120))]).actions == [.stale])
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

    // MARK: - Identity

    @Test func `a feed whose ids repeat is identified by its links, without new alerts`() {
        var feed = FollowedFeed()
        feed.poll([feed.entry("x", "One", link: "https://example.org/1"), feed.entry("y", "Two")])
        let entries = (1...4).map { feed.entry("same", "Entry \($0)", link: "https://example.org/\($0)") }
        feed.poll(entries)
        #expect(feed.feed.hasDegraded)
        let result = feed.poll([feed.entry("same", "New", link: "https://example.org/9")] + entries)
        #expect(result.actions == [.alert, .unchanged, .unchanged, .unchanged, .unchanged])
        #expect(result.events.map(\.id) == ["wire:https://example.org/9"])
    }

    @Test(arguments: [
        ("short", "wire:short"), ("tab\there", "wire:sha256-"), (String(repeating: "x", count: 600), "wire:sha256-"),
    ])
    func `an event id is clean and bounded`(key: String, start: String) {
        let id = EntryIdentity.eventID(feed: "wire", key: key)
        #expect(id.hasPrefix(start))
        #expect(id.utf8.count <= FeedLimits.eventID)
    }

    @Test func `new ids for known headlines and links cause no alerts`() {
        var feed = FollowedFeed()
        feed.poll((0..<20).map { feed.entry("\($0)") })
        let again = (0..<20).map { feed.entry("new-\($0)", "Headline of \($0)", link: "https://example.org/\($0)") }
        let result = feed.poll([feed.entry("true news")] + again)
        #expect(result.events.map(\.id) == ["wire:true news"])
        #expect(result.notes.count == 1)
    }

    @Test func `many new entries that share one link are news`() {
        var feed = FollowedFeed.empty()
        feed.poll((0..<8).map { feed.entry("\($0)", link: "https://example.org/") })
        #expect(feed.poll((10..<18).map { feed.entry("\($0)", link: "https://example.org/") }).events.count == 8)
    }

    @Test func `an entry under a new id with a known link and headline is not news`() {
        var feed = FollowedFeed.empty()
        feed.poll([feed.entry("a", "Storm", link: "https://example.org/storm")])
        #expect(feed.poll([feed.entry("b", "Storm", link: "https://example.org/storm")]).actions == [.noise])
    }

    @Test func `a story under two ids is sent once, whether both are in one document or minutes apart`() {
        var feed = FollowedFeed.empty()
        func storm(_ id: String) -> FeedEntry { feed.entry(id, "Storm", link: "https://example.org/storm") }
        let (a, b, c) = (storm("a"), storm("b"), storm("c"))
        #expect(feed.poll([b, a]).events.count == 1)
        #expect(feed.poll([c, b, a]).events.isEmpty)
        let later = feed.poll([storm("d"), c, b, a], after: .seconds(660))
        #expect(later.actions.first == .alert)
    }

    @Test(arguments: [
        (FeedRules.IdentityRule.guid, "id-7"), (.link, "https://example.org/7"),
        (.linkAndTitle, "https://example.org/7|Headline"), (.pattern("id-([0-9]+)"), "7"),
        (.pattern("nothing"), "id-7"),
    ])
    func `an identity rule decides the key of an entry`(rule: FeedRules.IdentityRule, key: String) {
        var entry = FeedEntry(id: "id-7", headline: "Headline")
        entry.link = "https://example.org/7"
        let identity = EntryIdentity(feed: "wire", rule: rule, hasDegraded: false)
        #expect(identity.keys(of: [(0, entry)]).entries.map(\.key) == [key])
    }

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
        var feed = FollowedFeed.empty { $0.signals = [.correction: ["CORRECTED:"]] }
        feed.poll([feed.entry("a", "Storm")])
        let updated = feed.poll([feed.entry("a", "Big storm")]).events
        #expect(updated.first?.data == [NewsEvent.DataField(name: "update", value: "update")])
        #expect(updated.first?.urgency == EventMaker.updateUrgency)
        let corrected = feed.poll([feed.entry("a", "CORRECTED: small storm")]).events
        #expect(corrected.first?.data == [NewsEvent.DataField(name: "update", value: "correction")])
    }

    @Test func `another date alone is not a change`() {
        var feed = FollowedFeed.empty { $0.updates = .any }
        feed.poll([feed.entry("a")])
        #expect(feed.poll([feed.entry("a", age: .seconds(5))]).actions == [.unchanged])
    }

    @Test func `a correction that is taken back reaches readers`() {
        var feed = FollowedFeed.empty()
        feed.poll([feed.entry("a", "Right")])
        #expect(feed.poll([feed.entry("a", "Wrong")]).actions == [.update])
        let back = feed.poll([feed.entry("a", "Right")])
        #expect(back.events.map(\.headline) == ["Right"])
        #expect(back.events.map(\.version?.text) == ["3"])
    }

    @Test func `a text that alternates is sent once it lasts`() {
        var feed = FollowedFeed.empty { $0.maxVersionsPerHour = 100 }
        for headline in ["One", "Two", "One"] { feed.poll([feed.entry("a", headline)]) }
        for _ in 0..<5 {
            #expect(feed.poll([feed.entry("a", "Two")]).actions == [.limited])
            #expect(feed.log.heldBack.values.map(\.due) == [Minute.of(feed.now) + 60])
            // A text that readers already have needs no event, and the waiting event is dropped.
            #expect(feed.poll([feed.entry("a", "One")]).actions == [.noise])
            #expect(feed.log.heldBack.isEmpty)
        }
        feed.poll([feed.entry("a", "Two")])
        #expect(feed.poll([feed.entry("a", "Two")]).actions == [.unchanged])
        #expect(feed.log.heldBack.count == 1)
        #expect(feed.poll([feed.entry("a", "Three")]).actions == [.update])
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
        feed.poll([feed.entry("f")])
        #expect(feed.log.heldBack.keys.count { feed.entries[$0]?.standing == .sent } == 1)
        #expect(feed.log.heldBack.keys.count { feed.entries[$0]?.standing == .waiting } == 1)
        #expect(feed.poll([feed.entry("g")], after: .seconds(3_700)).actions == [.alert])
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

    @Test func `a headline whose id and link change with each poll is sent once`() {
        var feed = FollowedFeed.empty()
        var events = 0
        for number in 0..<600 {
            let entry = feed.entry("id\(number)", "Storm", link: "https://example.org/storm?s=\(number)")
            events += feed.poll([entry]).events.count
        }
        #expect(events == 1)
    }

    @Test func `five headlines whose ids and links change with each poll are sent once each`() {
        var feed = FollowedFeed.empty()
        var events = 0
        for number in 0..<50 {
            let entries = (0..<5).map {
                feed.entry("\($0)-\(number)", "Story \($0)", link: "https://a.b/\($0)/\(number)")
            }
            events += feed.poll(entries).events.count
        }
        #expect(events == 5)
    }

    @Test func `the same headline a day later is another story`() {
        var feed = FollowedFeed.empty()
        feed.poll([feed.entry("1", "Morning briefing")])
        #expect(feed.poll([feed.entry("2", "Morning briefing")], after: .seconds(86_400)).actions == [.alert])
    }

    @Test func `stories that share a headline and are all replaced at once are news`() {
        var feed = FollowedFeed.empty()
        feed.poll((0..<8).map { feed.entry("\($0)", "Breaking news") })
        #expect(feed.poll((8..<16).map { feed.entry("\($0)", "Breaking news") }).events.count == 8)
    }

    // MARK: - Continued under another id

    @Test func `a new id with a new headline and an unchanged link continues the story`() {
        var feed = FollowedFeed.empty()
        let link = "https://example.org/storm"
        feed.poll([feed.entry("storm-nears", "Storm nears", link: link)])
        let update = feed.poll([feed.entry("storm-hits", "Storm hits", link: link)])
        #expect(update.actions == [.update])
        #expect(update.events.map(\.id) == ["wire:storm-nears"])
        #expect(update.events.map(\.version?.text) == ["2"])
        let next = feed.poll([feed.entry("storm-passed", "Storm passed", link: link)])
        #expect(next.events.map(\.id) == ["wire:storm-nears"])
        #expect(next.events.map(\.version?.text) == ["3"])
        #expect(feed.poll([feed.entry("storm-passed", "Storm passed", link: link)]).actions == [.unchanged])
    }

    /// A record of the new id did not count, because another process had overtaken it. Its version may be the
    /// publisher's own.
    @Test(arguments: [nil, 7]) func `a version that did not count is skipped`(own: Int?) {
        var feed = FollowedFeed.empty()
        func storm(_ id: String, _ headline: String, _ version: Int?) -> FeedEntry {
            var entry = feed.entry(id, headline, link: "https://example.org/storm")
            entry.version = version.map { NewsEvent.Version(String($0)) }
            return entry
        }
        let (first, next) = (storm("a", "Storm", own.map { $0 - 1 }), storm("b", "Storm hits", own))
        feed.poll([first])
        var state = EntryState()
        (state.version, state.standing) = ("7", .moved)
        feed.log.fold(EntryHash("b"), EntryRecord(state: state, writer: "other"))
        let update = feed.poll([next])
        #expect(update.events.map { "\($0.id) \($0.version?.text ?? "")" } == ["wire:a 8"])
        #expect(feed.poll([next]).actions == [.unchanged])
    }

    @Test func `an id that comes back continues the story, and so does a later change`() {
        var feed = FollowedFeed.empty()
        func storm(_ id: String, _ headline: String) -> FeedEntry {
            feed.entry(id, headline, link: "https://example.org/storm")
        }
        let first = (storm("a", "Storm"), storm("b", "Storm"), storm("a", "Storm hits"), storm("b", "Storm passed"))
        #expect(feed.poll([first.0]).actions == [.alert])
        #expect(feed.poll([first.1]).actions == [.noise])
        let third = feed.poll([first.2])
        #expect(third.events.map { "\($0.id) \($0.version?.text ?? "")" } == ["wire:a 2"])
        let fourth = feed.poll([first.3])
        #expect(fourth.events.map { "\($0.id) \($0.version?.text ?? "")" } == ["wire:a 3"])
    }

    @Test(arguments: [Duration.seconds(5), .seconds(60)])
    func `a warning that replaces an entry of the first reading at its link is sent, and updated later`(gap: Duration) {
        var feed = FollowedFeed()
        let link = "https://example.org/warning"
        feed.poll([feed.entry("w0", "No warning in force", link: link, age: .seconds(3_000))])
        let warning = feed.entry("w1", "Tsunami warning", link: link, age: .zero - gap)
        let alert = feed.poll([warning], after: gap)
        #expect(alert.actions == [.alert])
        #expect(alert.events.map(\.id) == ["wire:w1"])
        let update = feed.poll([feed.entry("w2", "Tsunami warning lifted", link: link)])
        #expect(update.actions == [.update])
        #expect(update.events.map { "\($0.id) \($0.version?.text ?? "")" } == ["wire:w1 2"])
    }

    @Test(
        arguments: [
            ("Tsunami warning", nil), ("Tsunami warning", .seconds(3_000)), ("No warning in force", .zero),
        ] as [(String, Duration?)])
    func `an entry without a later date or another headline continues an entry of the first reading`(
        headline: String, age: Duration?
    ) {
        var feed = FollowedFeed()
        let link = "https://example.org/warning"
        feed.poll([feed.entry("w0", "No warning in force", link: link, age: .seconds(3_000))])
        let result = feed.poll([feed.entry("w1", headline, link: link, age: age)])
        #expect(result.actions == [.noise])
        #expect(result.notes.isEmpty)
    }

    @Test func `ids and headlines that all change at known links alert nobody`() {
        var feed = FollowedFeed()
        feed.poll((0..<8).map { feed.entry("\($0)") })
        let again = (0..<8).map { feed.entry("new-\($0)", "New \($0)", link: "https://example.org/\($0)") }
        #expect(feed.poll(again).events.isEmpty)
    }

    @Test(
        arguments: [
            (.automatic, .seconds(3_600), .alert), (.automatic, .seconds(3_540), .noise),
            (.guid, .seconds(60), .alert), (.link, .seconds(60), .alert),
        ] as [(FeedRules.IdentityRule, Duration, Decision.Action)])
    func `the headline of an entry that left is another story after an hour, or at once if identity is set`(
        rule: FeedRules.IdentityRule, gap: Duration, action: Decision.Action
    ) {
        var feed = FollowedFeed.empty { $0.identity = rule }
        feed.poll([feed.entry("a", "Earthquake")])
        let result = feed.poll([feed.entry("b", "Earthquake", age: .seconds(60) - gap)], after: gap)
        #expect(result.actions == [action])
        #expect(result.notes.count == (action == .noise ? 1 : 0))
    }

    @Test func `identity that is set does not make a mass of new ids news`() {
        var feed = FollowedFeed { $0.identity = .guid }
        feed.poll((0..<8).map { feed.entry("\($0)", "Story \($0)") })
        let again = (0..<8).map { feed.entry("new-\($0)", "Story \($0)") }
        #expect(feed.poll(again, after: .seconds(7_200)).events.isEmpty)
    }

    @Test func `a headline without a date or a link continues the story for hours`() {
        var feed = FollowedFeed.empty()
        feed.poll([feed.entry("a", "Earthquake")])
        let undated = feed.entry("b", "Earthquake", age: nil)
        #expect(feed.poll([undated], after: .seconds(7_200)).actions == [.noise])
        var unlinked = feed.entry("c", "Earthquake", age: .seconds(60 - 7_200))
        unlinked.link = nil
        #expect(feed.poll([unlinked], after: .seconds(7_200)).actions == [.noise])
    }

    /// Ids and links change with each poll. The first entries are those of the first reading, or were sent.
    @Test(arguments: [true, false])
    func `entries that are not sent because of their headlines are reported once`(isFirstReading: Bool) {
        var feed = isFirstReading ? FollowedFeed() : FollowedFeed.empty()
        var notes: [String] = []
        for number in 0..<30 {
            let entries = (0..<2).map {
                feed.entry("\($0)-\(number)", "Story \($0)", link: "https://a.b/\($0)/\(number)")
            }
            notes += feed.poll(entries).notes
        }
        #expect(notes.count == 1)
        #expect(notes.first?.hasPrefix("2 entries have the headlines of others") == true)
    }

    @Test func `an old entry with the headline of one that left is not reported`() {
        var feed = FollowedFeed.empty()
        feed.poll([feed.entry("a", "Earthquake")])
        let result = feed.poll([feed.entry("b", "Earthquake", age: .seconds(10_000))])
        #expect(result.actions == [.noise])
        #expect(result.notes.isEmpty)
    }

    @Test func `an alert that is held back continues under another id`() {
        var feed = FollowedFeed.empty { $0.maxPerHour = 1 }
        func entries(_ suffix: String) -> [FeedEntry] {
            ["b", "a"].map { feed.entry($0 + suffix, "Story \($0)", link: "https://example.org/\($0)") }
        }
        let (old, new) = (entries("1"), entries("2"))
        #expect(feed.poll(old).actions == [.alert, .limited])
        #expect(feed.poll(new).events.isEmpty)
        #expect(feed.log.heldBack.keys.map(\.self) == [EntryHash("a2")])
    }

    @Test func `a recall under another id names the event that was sent`() {
        var feed = FollowedFeed.empty()
        feed.poll([feed.entry("a", "Storm", link: "https://example.org/storm")])
        var gone = feed.entry("b", "Withdrawn", link: "https://example.org/storm")
        gone.status = .canceled
        let result = feed.poll([gone])
        #expect(result.events.map(\.id) == ["wire:a"])
        #expect(result.events.map(\.status) == [.canceled])
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
        let document = FeedDocument(format: .rss20, entries: [feed.entry("a"), feed.entry("b", age: .seconds(90_000))])
        let decisions = Follower.explain(document, rules: feed.rules, at: FollowedFeed.start + .seconds(60))
        #expect(decisions.map(\.action) == [.alert, .stale])
        #expect(decisions.map(\.event?.id) == ["wire:a", "wire:b"])
    }
}
