/// The rules for following one feed, as set in `ingest.feeds`.
public struct FeedRules: Sendable, Hashable {
    /// Unique. Entries belong to the name, so a feed may move to another address.
    public var name: String
    public var url: String
    /// True if `url` was filled in from the environment or a file, and may therefore contain a key in its path too.
    public var isURLSecret = false
    /// The lane of the feed's events; `nil` for that of `ingest.lane`.
    public var lane: String?
    /// The category of every entry.
    public var category: String?
    /// Our categories by the publisher's category names, which are compared without case.
    public var categoryMap: [String: String] = [:]
    /// The category of entries whose categories are not in `categoryMap`; `nil` drops their categories.
    public var otherwise: String?
    /// An entry older than this is not news.
    public var maxAge: Duration? = .seconds(7_200)
    public var updates = UpdatePolicy.headline
    public var onFirstSight = FirstSight.silent
    public var identity = IdentityRule.automatic
    /// Maximum number of new alerts from one poll. Further ones become known silently, or go to the backfill lane if they appeared in
    /// an outage.
    public var maxPerPoll = 10
    public var maxVersionsPerHour = 3
    /// Maximum number of events within an hour, over polls and pushes. Further events are held back. Recalls of entries that were sent
    /// do not count and are not held back. Also the maximum number of recalls from the first reading, which do not count either.
    public var maxPerHour = 20
    /// True if entries have no dates, so that every new entry is news.
    public var isUndated = false
    /// True if entries that appeared during a pause in polling longer than `maxAge` are live, not `backfill`.
    public var catchUpIsLive = false
    /// True if a date in the future is an embargo, as in CMS feeds that schedule.
    public var futureDatesAreEmbargoes = false
    /// True if polls obey ttl, skipHours, skipDays and sy:updatePeriod.
    public var isPolite = false
    /// Literal texts to remove from the end of headlines and summaries.
    public var strip: [String] = []
    /// Prefixes of the headline or of the note to editors, by their meaning.
    public var signals: [Signal: [String]] = [:]
    /// Entries with the same link or headline in feeds of one group become one event.
    public var group: String?
    /// Minutes east of UTC for dates without a zone.
    public var zoneMinutes = 0
    /// `nil` for that of `ingest.interval`.
    public var intervalMin: Duration?
    public var intervalMax: Duration?
    /// Sent with each request to the feed's own host, and to no other.
    public var headers: [HeaderField] = []
    /// Hosts at private addresses from which this feed may be fetched.
    public var allowPrivate: [String] = []
    public var usesWebSub = true

    public init(name: String, url: String) {
        self.name = name
        self.url = url
    }

    /// An address of the feed for logs and status, which anyone may read.
    func shown(_ address: String) -> String? {
        let address = WebAddress(address)
        return isURLSecret ? address?.shownHost : address?.shown
    }

    public enum UpdatePolicy: String, Sendable, Hashable, CaseIterable {
        /// A changed headline, category or status is a new version; other changes are noise.
        case headline
        /// A changed summary, link or image is a new version too.
        case any
        /// Only a changed status, embargo or expiry is a new version.
        case never
    }

    public enum FirstSight: Sendable, Hashable {
        /// All present entries become known, and nothing is sent.
        case silent
        /// This many of the newest entries are sent.
        case last(Int)
        /// All entries are sent to the `backfill` lane.
        case all
    }

    public enum IdentityRule: Sendable, Hashable {
        /// The id, or else the link, or else title and date. The link is used instead once ids repeat.
        case automatic
        case guid
        case link
        case linkAndTitle
        /// The first group, or the whole match, of the expression in the id or the link.
        case pattern(String)
    }

    public enum Signal: String, Sendable, Hashable, CaseIterable {
        case correction, refile, kill, hold
    }
}

public struct HeaderField: Sendable, Hashable {
    public var name: String
    public var value: String

    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}
