public import NewsModel

/// One entry of a feed in normal form: texts without markup, absolute links, dates as instants.
public struct FeedEntry: Sendable, Hashable {
    /// The publisher's id, trimmed; `nil` if it is missing.
    public var id: String?
    /// Plain text; `nil` if the entry has no text that can serve as a headline.
    public var headline: String?
    /// Plain text without markup.
    public var summary: String?
    /// An absolute http or https address.
    public var link: String?
    /// `nil` if missing or unreadable; never the time of the poll.
    public var publishedAt: Instant?
    /// True if the text of `publishedAt` gave midnight in its own zone, which may stand for the whole day.
    var isDatedMidnight = false
    public var updatedAt: Instant?
    public var expiresAt: Instant?
    public var embargo = Embargo.none
    /// BCP 47. An entry without a language has the document's.
    public var language: String?
    /// The publisher's own categories, in document order.
    public var categories: [Term] = []
    /// IPTC media topics as `medtop:NNNNNNNN`.
    public var subjects: [String] = []
    /// An absolute http or https address.
    public var image: String?
    public var author: String?
    /// 1 (most urgent) to 9.
    public var urgency: Int?
    public var status = NewsEvent.Status.usable
    /// The format's own story id: the guid of NewsML-G2, the `du-key` of NITF.
    public var story: String?
    /// The format's own version. For formats without versions, `Follower` counts them.
    public var version: NewsEvent.Version?
    /// The publisher's marks of this version, in the format's own words without prefix: `correction`, `update`.
    public var signals: [String] = []
    /// A note to editors. Never shown to readers.
    public var editorialNote: String?
    /// The class of the item in IPTC's words: `text`, `picture`, `video`, `composite`; `nil` in formats without
    /// classes.
    public var itemClass: String?
    /// The reason why the format's reader cannot read all of the entry. Such an entry never becomes an event that readers see.
    public var fault: String?

    /// False for a picture, video or the like, which belongs to some story but is not one that readers are alerted to.
    public var isStory: Bool {
        switch itemClass {
        case "picture", "graphic", "video", "audio", "animation", "data", "icon": false
        default: true
        }
    }

    public init(id: String? = nil, headline: String? = nil) {
        self.id = id
        self.headline = headline
    }

    public struct Term: Sendable, Hashable {
        /// The publisher's text or code for it.
        public var name: String
        public var label: String?
        /// The vocabulary that the term is from, usually an address.
        public var scheme: String?

        public init(_ name: String, label: String? = nil, scheme: String? = nil) {
            self.name = name
            self.label = label
            self.scheme = scheme
        }
    }

    public enum Embargo: Sendable, Hashable {
        case none
        case until(Instant)
        /// An embargo without a known end (an empty `embargoed` of NewsML-G2). Only a later version ends it.
        case untilFurtherNotice
    }
}
