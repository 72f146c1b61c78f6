/// How one feed is followed: what `ingest.feeds` says about it.
public struct FeedRules: Sendable, Hashable {
    /// Unique; entries belong to the name, so a feed may move to another address.
    public var name: String
    public var url: String
    /// The lane that events go to; `nil` for that of `ingest.lane`.
    public var lane: String?
    /// The category of every entry.
    public var category: String?
    /// From the publisher's category names, compared without case, to ours.
    public var categoryMap: [String: String] = [:]
    /// The category of entries that `categoryMap` does not have; `nil` drops theirs.
    public var otherwise: String?
    /// An entry older than this is no news.
    public var maxAge: Duration? = .seconds(7_200)
    public var updates = UpdatePolicy.headline
    public var onFirstSight = FirstSight.silent
    public var identity = IdentityRule.automatic
    /// New alerts from one poll; the rest becomes known silently.
    public var maxPerPoll = 10
    public var maxVersionsPerHour = 3
    /// Events within an hour, over polls and pushes, recalls apart; what comes beyond is held back.
    public var maxPerHour = 20
    /// Entries have no dates: whatever is new is news.
    public var isUndated = false
    /// Where entries go that appeared while nobody polled for longer than `maxAge`; false sends them to `backfill`.
    public var catchUpIsLive = false
    /// A date in the future is an embargo (CMS feeds that schedule).
    public var futureDatesAreEmbargoes = false
    /// Obey ttl, skipHours, skipDays and sy:updatePeriod.
    public var isPolite = false
    /// Literal texts to remove from the end of headlines and summaries.
    public var strip: [String] = []
    /// Prefixes of headline or note to editors that mean something.
    public var signals: [Signal: [String]] = [:]
    /// Entries with the same link or headline in feeds of one group are one event.
    public var group: String?
    /// Minutes east of UTC for dates without a zone.
    public var zoneMinutes = 0
    /// `nil` for those of `ingest.interval`.
    public var intervalMin: Duration?
    public var intervalMax: Duration?
    /// Sent with each request to the feed's own host, and to no other.
    public var headers: [HeaderField] = []
    /// Hosts at private addresses that this feed may be fetched from.
    public var allowPrivate: [String] = []
    public var usesWebSub = true

    public init(name: String, url: String) {
        self.name = name
        self.url = url
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
        /// Everything there becomes known, nothing is sent.
        case silent
        /// The newest entries are sent.
        case last(Int)
        /// All are sent, by the `backfill` lane.
        case all
    }

    public enum IdentityRule: Sendable, Hashable {
        /// The id, else the link, else title and date; degrades when ids repeat.
        case automatic
        case guid
        case link
        case linkAndTitle
        /// What the first group (or the whole match) of the expression finds in id and link.
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
