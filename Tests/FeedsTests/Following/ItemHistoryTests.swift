import NewsModel
import Testing

@testable import Feeds

/// A document may list several versions of one item.
struct ItemHistoryTests {
    private static let noon = Instant(milliseconds: 1_795_348_800_000)

    private func entry(_ headline: String, version: String? = nil, isCanceled: Bool = false, at: Int? = nil)
        -> FeedEntry
    {
        var entry = FeedEntry(id: "urn:1", headline: headline)
        entry.version = version.map { NewsEvent.Version($0) }
        if isCanceled { entry.status = .canceled }
        entry.updatedAt = at.map { Self.noon + .seconds($0) }
        return entry
    }

    private func kept(_ entries: [FeedEntry], _ rule: FeedRules.IdentityRule = .automatic) -> [Int] {
        let identity = EntryIdentity(rule: rule)
        return identity.keys(of: entries.enumerated().map { ($0.offset, $0.element) }).entries.map(\.index)
    }

    @Test(arguments: [FeedRules.IdentityRule.automatic, .guid])
    func `the highest version of an item counts, wherever it stands`(rule: FeedRules.IdentityRule) {
        let (old, new) = (entry("Nine dead", version: "1"), entry("Ten dead", version: "2"))
        #expect(kept([new, old], rule) == [0])
        #expect(kept([old, new], rule) == [1])
        #expect(kept([old, entry("Nine dead", version: "2", isCanceled: true)], rule) == [1])
        #expect(kept([entry("Ten dead", version: "1.10"), entry("Nine dead", version: "1.9")], rule) == [0])
    }

    @Test func `a withdrawal beside its entry counts, unless the entry is newer`() {
        let kill = entry("", isCanceled: true, at: 5)
        #expect(kept([entry("Wrong"), kill]) == [1])
        #expect(kept([kill, entry("Wrong", at: 4)]) == [0])
        #expect(kept([kill, entry("Back again", at: 6)]) == [1])
    }

    @Test func `entries that share an id without versions stay apart`() {
        #expect(kept([entry("One"), entry("Two")]) == [0, 1])
    }

    @Test(arguments: [true, false]) func `a date ahead is an embargo only if the rules say so`(isEmbargo: Bool) {
        var rules = FeedRules(name: "wire", url: "https://wire.example/feed")
        rules.category = "World"
        rules.futureDatesAreEmbargoes = isEmbargo
        var feed = FeedState()
        feed.primedAt = Self.noon - .seconds(60)
        for hours in [1, 72] {
            var document = FeedDocument(format: .ninjs)
            var entry = FeedEntry(id: "a", headline: "Later")
            entry.publishedAt = Self.noon + .seconds(hours * 3_600)
            document.entries = [entry]
            let following = Follower.follow(
                document, rules: rules, feed: feed, log: EntryLog(), group: GroupMemory(), lane: "live",
                backfillLane: "backfill", at: Self.noon)
            let events = following.changes.compactMap { $0.event?.event }
            #expect(events.allSatisfy { $0.embargoUntil == (isEmbargo ? entry.publishedAt : nil) })
            #expect(!isEmbargo || events.count == 1)
        }
    }

    @Test(arguments: ["canceled", "CANCELED", "Cancelled", "stat:canceled"])
    func `a withdrawal without a headline is read in every spelling`(status: String) throws {
        let document = try Ninjs.read(Array(#"[{"uri":"u","version":"2","pubstatus":"\#(status)"}]"#.utf8))
        #expect(document.entries.map(\.status) == [.canceled] && document.skipped.isEmpty)
    }
}
