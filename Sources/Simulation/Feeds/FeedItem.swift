import Feeds
import NewsModel

/// One story in a publisher's system, whatever its feed makes of it.
struct FeedItem: Sendable, Hashable {
    var number: Int
    /// What the feed gives as its id now; publishers change it.
    var guid: String
    var headline: String
    var summary: String?
    /// Never changes and belongs to this item alone: by it an event is known to be of this item.
    var link: String
    /// When it was really published.
    var bornAt: Instant
    /// As the feed says, which may be wrong; `nil` if it does not say.
    var statedDate: Instant?
    /// When the text last changed.
    var editedAt: Instant
    var edits = 0
    /// The id is not the one that it was born with.
    var isRekeyed = false
    /// It has been there before the feed was ever asked for, or is an old one that was brought up again.
    var isBacklog: Bool
    var isCanceled = false
    /// Its headline goes to and fro.
    var flaps = false

    var entry: FeedEntry {
        var entry = FeedEntry(id: guid, headline: headline)
        entry.summary = summary
        entry.link = link
        entry.publishedAt = statedDate
        if isCanceled { entry.status = .canceled }
        return entry
    }
}
