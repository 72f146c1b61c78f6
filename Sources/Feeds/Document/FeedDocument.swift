/// The content of one feed document in any format.
public struct FeedDocument: Sendable, Hashable {
    public var format: FeedFormat
    /// The feed's own title, as plain text.
    public var title: String?
    /// BCP 47. It applies to entries without a language of their own.
    public var language: String?
    /// Entries in document order, at most `FeedLimits.entriesRead`.
    public var entries: [FeedEntry]
    /// Number of entries beyond `FeedLimits.entriesRead`.
    public var entriesLeftOut = 0
    /// Items of the document that are not news (a list of concepts, a plan), or that cannot be read. At most
    /// `FeedLimits.entriesRead`.
    public var skipped: [SkippedItem] = []
    /// True if the document ends before its root element does, so that entries may be missing.
    public var isCutOff = false
    /// Number of dates in the document that cannot be read.
    public var unreadableDates = 0
    /// The feed's requests about polling times.
    public var hints = PollHints()
    /// Absolute addresses of the WebSub hubs in the document.
    public var hubs: [String] = []
    /// The absolute address that the document gives as its own (`rel=self`).
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
    /// One sentence. It never contains the item's text.
    public var reason: String

    public init(id: String? = nil, _ reason: String) {
        self.id = id
        self.reason = reason
    }

    /// An item in which the document ends. It is skipped, because its headline may be incomplete.
    static func cutOff(id: String?) -> SkippedItem {
        SkippedItem(id: id, "The document ends before the item does")
    }
}

/// The raw value appears in `ingest --explain` and `--status`.
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

/// A feed's requests about polling times. They are always logged, but only feeds with `polite: true` obey them, because
/// publishers rarely mean them.
public struct PollHints: Sendable, Hashable {
    /// The `ttl` element of RSS.
    public var timeToLive: Duration?
    /// RSS `skipHours`: hours of the day in UTC, 0…23.
    public var skippedHours: Set<Int> = []
    /// RSS `skipDays`: 1 for Monday … 7 for Sunday.
    public var skippedDays: Set<Int> = []
    /// `sy:updatePeriod` divided by `sy:updateFrequency`.
    public var updatePeriod: Duration?

    public init() {}
}
