import NewsModel
import Testing

@testable import Feeds

/// Entries with the id, link or headline of another one.
@Suite struct FollowerIdentityTests {
    @Test(arguments: [("https://example.org/a", ""), ("urn:a", "<link href=\"https://example.org/a\"/>")])
    func `a tombstone recalls its entry also if links identify entries`(id: String, link: String) throws {
        var feed = FollowedFeed.empty { $0.identity = .link }
        let alert = feed.poll([feed.entry(id, link: "https://example.org/a")])
        let tombstone = "<t:deleted-entry ref=\"\(id)\" when=\"2026-09-21T15:00:00Z\">\(link)</t:deleted-entry>"
        let namespaces = "xmlns=\"http://www.w3.org/2005/Atom\" xmlns:t=\"http://purl.org/atompub/tombstones/1.0\""
        let document = try Samples.read("<feed \(namespaces)>\(tombstone)</feed>")
        let recall = feed.poll(document.entries)
        #expect(recall.actions == [.canceled])
        #expect(recall.events.map(\.id) == alert.events.map(\.id))
    }

    // MARK: - Identity

    @Test func `a feed whose ids repeat is identified by its links, without new alerts`() {
        var feed = FollowedFeed()
        feed.poll([feed.entry("x", "One", link: "https://example.org/1"), feed.entry("y", "Two")])
        let entries = (1...4).map { feed.entry("same", "Entry \($0)", link: "https://example.org/\($0)") }
        feed.poll(entries)
        #expect(feed.feed.identity == .link)
        let result = feed.poll([feed.entry("same", "New", link: "https://example.org/9")] + entries)
        #expect(result.actions == [.alert, .unchanged, .unchanged, .unchanged, .unchanged])
        #expect(result.events.map(\.id) == ["wire:https://example.org/9"])
    }

    @Test(arguments: [Duration?.some(.zero), nil])
    func `each new entry of a feed without ids whose links are all equal is sent at once`(age: Duration?) {
        for first in 0...2 {
            var feed = FollowedFeed()
            func entries(_ count: Int) -> [FeedEntry] {
                (0..<count).reversed().map { number in
                    var entry = feed.entry("", "Story \(number)", link: "https://example.org/", age: age)
                    entry.id = nil
                    return entry
                }
            }
            feed.poll(entries(first))
            for count in first + 1...first + 3 {
                let result = feed.poll(entries(count))
                #expect(result.actions.first == .alert)
                #expect(result.events.map(\.headline) == ["Story \(count - 1)"])
            }
        }
    }

    @Test(arguments: [
        ("short", "wire:short"), ("tab\there", "wire:sha256-"), (String(repeating: "x", count: 600), "wire:sha256-"),
    ])
    func `an event id is clean and bounded`(key: String, start: String) {
        let id = EntryIdentity.eventID(feed: "wire", key: key)
        #expect(id.hasPrefix(start))
        #expect(id.utf8.count <= FeedLimits.eventID)
    }

    @Test func `two feeds never share an event id, and colons in names change no other id`() {
        #expect(
            EntryIdentity.eventID(feed: "a:b", key: "c") != EntryIdentity.eventID(feed: "a", key: "b:c"))
        #expect(EntryIdentity.eventID(feed: "a b", key: "b:c") == "a b:b:c")
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

    /// The same stories with new ids, links and headlines, and one story that is new.
    @Test(arguments: [Duration?.some(.seconds(120)), nil])
    func `a site that is rebuilt alerts only of stories later than all known ones`(age: Duration?) {
        var feed = FollowedFeed.empty()
        for number in 0..<8 { feed.poll((0...number).reversed().map { feed.entry("\($0)", age: age) }) }
        let stories = (0..<8).map {
            feed.entry("/n/\($0)", "Headline of \($0) | Example News", link: "https://new.example.org/\($0)", age: age)
        }
        let result = feed.poll([feed.entry("true news")] + stories)
        #expect(result.events.map(\.id) == ["wire:true news"])
        #expect(result.count(.backlog) == 8)
        #expect(result.notes.count == 1)
        #expect(feed.poll(stories).events.isEmpty)
    }

    @Test func `a feed that was not polled for a while and has only new entries brings news`() {
        var feed = FollowedFeed()
        feed.poll((0..<8).map { feed.entry("\($0)", age: .seconds(600)) })
        let entries = (10..<18).map { feed.entry("\($0)", age: .seconds(60 * $0 - 3_540)) }
        let result = feed.poll(entries, after: .seconds(3_600))
        #expect(result.events.count == 8 && result.notes.isEmpty)
        var undated = FollowedFeed { $0.isUndated = true }
        undated.poll((0..<8).map { undated.entry("\($0)", age: nil) })
        #expect(undated.poll((10..<18).map { undated.entry("\($0)", age: nil) }).events.count == 8)
    }

    /// - Parameter isPast: true if the time by the clock that was ahead has come.
    @Test(arguments: [false, true])
    func `entries that a clock ahead of time has seen do not make later ones old`(isPast: Bool) {
        var feed = FollowedFeed.empty()
        for number in 0..<6 { feed.poll([feed.entry("\(number)")]) }
        if isPast { feed.poll([feed.entry("5")], after: .seconds(-10_800)) }
        let entries = (10..<18).map { feed.entry("\($0)", age: .seconds(isPast ? -10_640 : 0)) }
        let result = feed.poll(entries, after: .seconds(isPast ? 10_860 : -10_800))
        #expect(result.events.count == 8 && result.notes.isEmpty)
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
        let identity = EntryIdentity(rule: rule)
        #expect(identity.keys(of: [(0, entry)]).entries.map(\.key) == [key])
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

    /// A page that always shows the present warning.
    @Test(arguments: [
        (FeedRules.IdentityRule.automatic, Decision.Action.update), (.guid, .alert), (.linkAndTitle, .alert),
    ])
    func `another id at the link of an entry that left is another story if identity is set`(
        rule: FeedRules.IdentityRule, action: Decision.Action
    ) {
        var feed = FollowedFeed.empty { $0.identity = rule }
        let link = "https://example.org/warning"
        feed.poll([feed.entry("w1", "Storm warning for Rome", link: link)])
        #expect(feed.poll([feed.entry("w2", "Earthquake near Tokyo", link: link)]).actions == [action])
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

    /// - Parameter isWaiting: true if a limit holds the alert back.
    @Test(arguments: [true, false])
    func `an embargo that is prolonged together with a change of the id delays the alert`(isWaiting: Bool) throws {
        var feed = FollowedFeed.empty { $0.maxPerHour = isWaiting ? 0 : 20 }
        let end = feed.now + .seconds(3_600)
        func storm(_ id: String, _ version: String, _ end: Instant) -> FeedEntry {
            var entry = feed.entry(id, "Storm", link: "https://example.org/storm")
            (entry.version, entry.embargo) = (NewsEvent.Version(version), .until(end))
            return entry
        }
        feed.poll([storm("a", "1", end)])
        // Another id alone changes nothing.
        #expect(feed.poll([storm("b", "2", end)]).actions == [.noise])
        let later = storm("c", "3", end + .seconds(3_600))
        let delayed = feed.poll([later])
        if isWaiting {
            #expect(feed.log.heldBack.keys.map(\.self) == [EntryHash("c")])
            let held = try #require(feed.log.heldBack[EntryHash("c")])
            let text = String(decoding: held.intent.event, as: UTF8.self)
            #expect(text.contains(#""embargoUntil":"\#(end + .seconds(3_600))""#))
        } else {
            #expect(delayed.events.map { "\($0.id) \($0.version?.text ?? "")" } == ["wire:a 3"])
            #expect(delayed.events.map(\.embargoUntil) == [end + .seconds(3_600)])
        }
        #expect(delayed.notes.allSatisfy { !$0.contains("is not sent") })
        #expect(feed.poll([later]).actions == [.unchanged])
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
}
