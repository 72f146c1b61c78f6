public import NewsModel

/// One entry of a feed, read and made plain: texts without markup, absolute links, dates as instants.
public struct FeedEntry: Sendable, Hashable {
    /// As the publisher gives it, trimmed; `nil` when there is none.
    public var id: String?
    /// Plain text; `nil` when the entry has no text that could stand for a headline.
    public var headline: String?
    /// Plain text.
    public var summary: String?
    /// An absolute http or https address.
    public var link: String?
    /// `nil` when missing or unreadable; never the time of the poll.
    public var publishedAt: Instant?
    public var updatedAt: Instant?
    public var expiresAt: Instant?
    public var embargo = Embargo.none
    /// BCP 47; the document's own if the entry has none.
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
    /// The format's own story: the guid of NewsML-G2, the `du-key` of NITF.
    public var story: String?
    /// The format's own version; formats without one leave counting to `Follower`.
    public var version: NewsEvent.Version?
    /// What the publisher says this version is, in the format's own words without prefix: `correction`, `update`.
    public var signals: [String] = []
    /// A note to editors. Never shown to readers.
    public var editorialNote: String?
    /// What kind of item it is in the words of IPTC: `text`, `picture`, `video`, `composite`; `nil` in formats that do not
    /// say.
    public var itemClass: String?

    /// False for a picture, video or the like: part of some story, but not a story that readers are alerted to.
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
        /// What the publisher calls it: the text or code.
        public var name: String
        public var label: String?
        /// The vocabulary it is from, an address as a rule.
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
        /// Under embargo without a known end (an empty `embargoed` of NewsML-G2): only a later version frees it.
        case untilFurtherNotice
    }
}
