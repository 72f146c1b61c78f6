import NewsModel

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
    /// All lanes of the settings.
    var lanes: Set<String>?

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
        _ entries: [FeedEntry], after gap: Duration = .seconds(60), isPartial: Bool = false,
        isCutOff: Bool = false
    ) -> Following {
        now = now + gap
        var document = FeedDocument(format: .rss20, entries: entries)
        document.isCutOff = isCutOff
        let result = Follower.follow(
            document, rules: rules, feed: feed, log: log, group: group,
            lane: "live", backfillLane: backfillLane, lanes: lanes, isPartial: isPartial, at: now)
        feed = result.feed
        feed.lastSuccessAt = now
        for change in result.changes {
            var record = change.record(in: log, writer: "test", after: nil, order: 0)
            record?.intent = nil
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
