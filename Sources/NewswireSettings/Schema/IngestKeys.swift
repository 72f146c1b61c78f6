import Feeds

extension SettingsKey {
    private static let feed = FeedRules(name: "", url: "")
    private static let ingester = IngestSettings()
    /// The allowed intervals. A poll a second is only for tests, because a publisher would block such a client.
    private static let intervals = Duration.milliseconds(100) ... .seconds(7 * 86_400)

    static let ingest =
        [
            SettingsKey("ingest.lane", .text, default: ingester.lane, "The lane that events of feeds are written to."),
            SettingsKey(
                "ingest.stateTopic", .topic, default: "news.feeds",
                "The compacted topic that keeps what is known of each feed and its entries."),
            SettingsKey(
                "ingest.interval.min", .duration(intervals, orNone: false),
                default: SettingsValue.text(ingester.intervalMin), "The shortest time between two polls of one feed."),
            SettingsKey(
                "ingest.interval.max", .duration(intervals, orNone: false),
                default: SettingsValue.text(ingester.intervalMax), "The longest time between two polls of one feed."),
            SettingsKey(
                "ingest.inFlight", .integer(1...1_000), default: "\(ingester.inFlightMax)",
                "Polls at the same time. Slow publishers need more: polls per second times the seconds that an answer takes."
            ),
            SettingsKey(
                "ingest.websub.publicURL", .text,
                "The public https address at which WebSub hubs reach ingest.websub.listen; without it feeds are only polled."
            ),
            SettingsKey(
                "ingest.websub.listen", .listen, default: "127.0.0.1:9465",
                "The address that takes the calls of WebSub hubs. Publish this one only, through a proxy with https."),
            SettingsKey(
                "ingest.listen", .listen, default: "127.0.0.1:9466",
                "The address that serves health, metrics and status of `newswire ingest`, or off."),
            SettingsKey(
                "ingest.contact", .text,
                "An address for publishers, sent in the User-Agent, e.g. https://news.example.org/bot. Many publishers block clients without one."
            ),
        ] + feeds

    private static let feeds =
        [
            SettingsKey(
                "ingest.feeds.*.name", .text, required: true,
                "A name of its own that never changes: event ids begin with it, so a feed may move to another address."),
            SettingsKey("ingest.feeds.*.url", .text, required: true, "The feed's address."),
            SettingsKey("ingest.feeds.*.category", .text, "The category of every entry, whatever the feed says."),
            SettingsKey(
                "ingest.feeds.*.map.*", .text, "Our category for a category of the publisher, e.g. Politik: Politics."),
            SettingsKey(
                "ingest.feeds.*.default", .text, default: "drop",
                "The category of entries that map has nothing for, or drop to leave them without."),
            SettingsKey("ingest.feeds.*.lane", .text, "The lane of this feed, instead of ingest.lane."),
            SettingsKey(
                "ingest.feeds.*.maxAge", .duration(.seconds(1) ... .seconds(366 * 86_400), orNone: true),
                default: feed.maxAge.map(SettingsValue.text) ?? "none", "Entries older than this are no news."),
            SettingsKey(
                "ingest.feeds.*.updates", .choice(FeedRules.UpdatePolicy.allCases.map(\.rawValue)),
                default: feed.updates.rawValue,
                "headline: a changed headline or category is a new version. any: a changed summary, link or image too. never: only a changed status."
            ),
            SettingsKey(
                "ingest.feeds.*.onFirstSight", .text, default: "silent",
                "What happens to the entries that a new feed has already: silent, last:N (the newest N are sent), or all (to the lane backfill)."
            ),
            SettingsKey(
                "ingest.feeds.*.identity", .text,
                "What tells entries apart when a feed's own ids do not: guid, link, link+title, or regex:EXPRESSION (PCRE2) on id and link."
            ),
            SettingsKey(
                "ingest.feeds.*.maxPerPoll", .integer(1...1_000), default: "\(feed.maxPerPoll)",
                "The most new alerts from one poll; more become known silently, or go to the backfill lane after an outage."
            ),
            SettingsKey(
                "ingest.feeds.*.maxPerHour", .integer(1...100_000), default: "\(feed.maxPerHour)",
                "The most events within an hour, by polls and pushes together, recalls of what was sent apart; what comes beyond is held back and warned of."
            ),
            SettingsKey(
                "ingest.feeds.*.maxVersionsPerHour", .integer(1...1_000), default: "\(feed.maxVersionsPerHour)",
                "The most versions of one entry within an hour; the last text waits for its end."),
            SettingsKey(
                "ingest.feeds.*.undated", .boolean, default: "\(feed.isUndated)",
                "The feed has no dates: every entry that was not there before is news."),
            SettingsKey(
                "ingest.feeds.*.catchUp", .choice(["backfill", "live"]),
                default: feed.catchUpIsLive ? "live" : "backfill",
                "The lane of entries that appeared while nobody polled for longer than maxAge: backfill, or live for the feed's own."
            ),
            SettingsKey(
                "ingest.feeds.*.futureDates", .choice(["keep", "embargo"]),
                default: feed.futureDatesAreEmbargoes ? "embargo" : "keep",
                "embargo: an entry dated in the future waits until then. keep: clocks are wrong more often."),
            SettingsKey(
                "ingest.feeds.*.polite", .boolean, default: "\(feed.isPolite)",
                "Obey the feed's ttl, skipHours, skipDays and sy:updatePeriod."),
            SettingsKey(
                "ingest.feeds.*.strip", .list(.text),
                "Texts to remove from the end of headlines and summaries, e.g. Read more."),
        ]
        + FeedRules.Signal.allCases.map { signal in
            SettingsKey("ingest.feeds.*.signals.\(signal.rawValue)", .list(.text), summary(of: signal))
        } + [
            SettingsKey(
                "ingest.feeds.*.group", .text,
                "Feeds of one group that carry the same story, by link or headline, alert once."),
            SettingsKey(
                "ingest.feeds.*.zone", .text, default: "UTC",
                "The zone of dates that name none: UTC, or an offset such as +01:00."),
            SettingsKey(
                "ingest.feeds.*.interval.min", .duration(intervals, orNone: false),
                "Instead of ingest.interval.min."),
            SettingsKey(
                "ingest.feeds.*.interval.max", .duration(intervals, orNone: false),
                "Instead of ingest.interval.max."),
            SettingsKey(
                "ingest.feeds.*.headers.*", .text, secret: true,
                "Headers that the publisher asks for, e.g. Authorization: ${file:/run/secrets/agency}."),
            SettingsKey(
                "ingest.feeds.*.allowPrivate", .list(.text),
                "Hosts at private addresses that this feed may be fetched from, e.g. cms.intranet.example."),
            SettingsKey(
                "ingest.feeds.*.websub", .boolean, default: "\(feed.usesWebSub)",
                "Let the publisher push, where it offers that and ingest.websub.publicURL is set."),
            SettingsKey("ingest.feeds.*.format", .text, "A note for people; the format is always detected."),
        ]

    private static func summary(of signal: FeedRules.Signal) -> String {
        let meaning =
            switch signal {
            case .correction: "a correction: a new version that says so"
            case .refile: "a repeat with small changes: a new version, without an alert"
            case .kill: "a withdrawal: the story is recalled"
            case .hold: "not to be published yet"
            }
        return "Beginnings of headlines or notes to editors that mean \(meaning)."
    }
}
