import Feeds
import NewsModel

/// One story in a publisher's system, independent of its form in the feed.
struct FeedItem: Sendable, Hashable {
    var number: Int
    /// The id that the feed gives at present. Publishers change it.
    var guid: String
    var headline: String
    var summary: String?
    /// Unique and constant, so that an event's item is found by it.
    var link: String
    /// The true time of publication.
    var bornAt: Instant
    /// The date in the feed, which may be wrong; `nil` if there is no date.
    var statedDate: Instant?
    /// The number of edits that a headline has.
    static func edits(of headline: String) -> Int {
        headline.split(separator: ", edit ").dropFirst().last.flatMap { Int($0) } ?? 0
    }

    /// Time of the last change of the text.
    var editedAt: Instant
    var edits = 0
    /// Time at which a document with its present text was last delivered.
    var givenAt: Instant?
    /// True if the id differs from the original one.
    var isRekeyed = false
    /// True if the item was published before the feed was first delivered.
    var isBacklog: Bool
    var isCanceled = false
    var isWithheld = false
    /// True if it is or was withheld. Its date may be older than `maxAge` when it is free.
    var wasWithheld = false
    /// True if its headline alternates between two texts.
    var flaps = false

    func entry(datesChanges: Bool) -> FeedEntry {
        var entry = FeedEntry(id: guid, headline: headline)
        entry.summary = summary
        entry.link = link
        entry.publishedAt = statedDate
        if datesChanges { entry.updatedAt = editedAt }
        if isWithheld { entry.status = .withheld }
        if isCanceled { entry.status = .canceled }
        return entry
    }
}
