/// A feed as one document says it, whatever its format.
public struct FeedDocument: Sendable, Hashable {
    public var format: FeedFormat
    /// The feed's own title, as plain text.
    public var title: String?
    /// BCP 47; holds for entries without a language of their own.
    public var language: String?
    /// In document order, at most `FeedLimits.entriesRead`.
    public var entries: [FeedEntry]
    /// Entries beyond `FeedLimits.entriesRead`.
    public var entriesLeftOut = 0
    /// Items of the document that are not news (a list of concepts, a plan), or that cannot be read. At most
    /// `FeedLimits.entriesRead`.
    public var skipped: [SkippedItem] = []
    /// Dates that stand in the document but could not be read.
    public var unreadableDates = 0
    /// What the feed says about how often to poll it.
    public var hints = PollHints()
    /// Addresses of WebSub hubs that the document names, absolute.
    public var hubs: [String] = []
    /// The address that the document gives as its own (`rel=self`), absolute.
    public var selfLink: String?

    public init(format: FeedFormat, title: String? = nil, language: String? = nil, entries: [FeedEntry] = []) {
        self.format = format
        self.title = title
        self.language = language
        self.entries = entries
    }
}

/// An item of a document that is not among its entries.
public struct SkippedItem: Sendable, Hashable {
    /// The publisher's id, if it has one.
    public var id: String?
    /// One sentence. Never carries the item's text.
    public var reason: String

    public init(id: String? = nil, _ reason: String) {
        self.id = id
        self.reason = reason
    }

    /// Half of an item may have half of a headline.
    static func cutOff(id: String?) -> SkippedItem {
        SkippedItem(id: id, "The document ends before the item does")
    }
}

/// The raw value is what people read in `ingest --explain` and `--status`.
public enum FeedFormat: String, Sendable, Hashable, CaseIterable {
    case rss090 = "RSS 0.90"
    case rss091 = "RSS 0.91"
    case rss092 = "RSS 0.92"
    case rss10 = "RSS 1.0"
    case rss20 = "RSS 2.0"
    case rssJSON = "RSS in JSON"
    case atom03 = "Atom 0.3"
    case atom10 = "Atom 1.0"
    case jsonFeed10 = "JSON Feed 1.0"
    case jsonFeed11 = "JSON Feed 1.1"
    case newsMLG2 = "NewsML-G2"
    case nitf = "NITF"
    case ninjs = "ninjs"
}

/// What a feed says about how often to poll it. Logged always, obeyed only by feeds with `polite: true`, because their
/// authors rarely mean them.
public struct PollHints: Sendable, Hashable {
    /// RSS `ttl`.
    public var timeToLive: Duration?
    /// RSS `skipHours`: hours of the day in UTC, 0…23.
    public var skippedHours: Set<Int> = []
    /// RSS `skipDays`: 1 for Monday … 7 for Sunday.
    public var skippedDays: Set<Int> = []
    /// `sy:updatePeriod` divided by `sy:updateFrequency`.
    public var updatePeriod: Duration?

    public init() {}
}
