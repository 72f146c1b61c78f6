import ByteText
public import NewsModel

/// Decides for each entry of one document whether it is news, a new version, or noise.
///
/// Entries that were there at first sight, old entries, repeats, and changes of dates alone are not news. Recalls
/// always are.
public struct Follower {
    let rules: FeedRules
    let document: FeedDocument
    let now: Instant
    /// The time by which the ages of entries are measured: that of the publisher if it is earlier than ours. Our clock may be
    /// ahead, and would make news look old.
    let servedAt: Instant
    let minute: UInt32
    let isFirstReading: Bool
    let maker: EventMaker
    let lane: String
    let backfillLane: String
    /// All lanes of the settings; `nil` if they are not known.
    let lanes: Set<String>?
    let log: EntryLog
    let group: GroupMemory
    var result: Following
    /// The events of this document, with the indices of their entries.
    var written: [(index: Int, change: Following.Change)] = []
    /// Events within the hour, including those of this document.
    var sentThisHour: Int
    /// Number of events that this document adds to those held back.
    var heldBackNow = 0
    var heldBytes: Int
    var newlyLimited = 0
    /// Entries whose own limit has begun to hold their texts back.
    var newlyDelayed = 0
    /// Number of events beyond a limit that the next reading examines again.
    var beyondHeldBack = 0
    /// True if a hub pushed copies that may be former ones.
    var isInDoubt = false
    /// Number of entries that would be news within `FeedLimits.entriesUsed`.
    var beyondUsed = 0
    /// Number of entries that are no longer withheld but have no new version.
    var freeWithoutVersion = 0
    /// Number of entries whose text differs under a version that is not newer.
    var staleVersions = 0
    /// Dates of new entries that are older than `maxAge`.
    var outdated: [Instant] = []
    /// The reasons why new entries cannot become events.
    var unreadable: [String] = []
    /// Recalls of entries that were not sent, with the states kept until now.
    var unsentRecalls: [(keyed: EntryIdentity.Keyed, state: EntryState, old: EntryState?)] = []
    /// Ids of the entries whose alert is withheld because their newest copy cannot become an event, with the reasons.
    var withheldUnread: [(id: String, because: String)] = []
    /// Ids of the entries that are not sent because another feed of the group has brought their link, with another headline.
    var duplicatesByLink: [(id: String, other: String)] = []

    var known: EntryTable { log.table }

    private init(
        _ document: FeedDocument, rules: FeedRules, feed: FeedState, log: EntryLog, group: GroupMemory,
        lane: String, backfillLane: String, lanes: Set<String>? = nil, servedAt: Instant?, at now: Instant
    ) {
        self.rules = rules
        self.document = document
        self.now = now
        self.servedAt = servedAt.flatMap { $0 < now && now - $0 <= Self.clockErrorMax ? $0 : nil } ?? now
        isFirstReading = !feed.isPrimed
        minute = Minute.of(now)
        maker = EventMaker(rules: rules, language: document.language)
        self.lane = rules.lane ?? lane
        self.backfillLane = backfillLane
        self.lanes = lanes
        self.log = log
        self.group = group
        sentThisHour = log.table.sent(inHourOf: minute)
        heldBytes = log.heldBack.values.reduce(0) { $0 + $1.intent.event.count }
        result = Following(feed: feed)
    }

    /// The clock of a publisher that is earlier than ours by more than this is wrong itself.
    private static let clockErrorMax = Duration.seconds(86_400)

    /// The decision about each entry if the feed had been empty when it was first read, in document order. Items that are no entries,
    /// because they cannot be read, follow with indices beyond the entries.
    public static func explain(_ document: FeedDocument, rules: FeedRules, at now: Instant) -> [Decision] {
        var feed = FeedState()
        feed.primedAt = .distantPast
        feed.lastSuccessAt = now
        let settings = IngestSettings()
        // The hourly limit is left out, because it says nothing about an entry.
        var rules = rules
        rules.maxPerHour = .max
        var follower = Follower(
            document, rules: rules, feed: feed, log: EntryLog(), group: GroupMemory(), lane: settings.lane,
            backfillLane: settings.backfillLane, servedAt: nil, at: now)
        follower.run(isPartial: false)
        follower.imagineEvents()
        let unread = document.skipped.enumerated().map { place, item in
            Decision(
                index: document.entries.count + place, action: .unreadable, because: item.reason,
                id: item.id.map { EntryIdentity.eventID(feed: rules.name, key: $0) } ?? "")
        }
        return follower.result.decisions + unread
    }

    /// Adds an event to each decision without one, so that people can see what the entry would become.
    private mutating func imagineEvents() {
        let identity = EntryIdentity(rule: rules.identity, fallback: result.feed.identity)
        for keyed in identity.keys(of: newestFirst()).entries where result.decisions[keyed.index].event == nil {
            let version = keyed.entry.version ?? NewsEvent.Version("1")
            let meaning = EntryMeaning(keyed.entry, rules: rules)
            let event = try? maker.event(
                keyed, id: eventID(keyed), version: version, change: nil, meaning: meaning
            ).get()
            result.decisions[keyed.index].event = event
        }
    }

    /// - Parameters:
    ///   - group: recent stories of the feeds in the same group; empty for a feed without a group.
    ///   - lane: the lane for a feed that does not name one.
    ///   - lanes: all lanes of the settings; `nil` if they are not known.
    ///   - isPartial: true if the document (a WebSub delivery) has only new entries, so that missing ones say nothing.
    ///   - servedAt: the time by the publisher's clock; `nil` if it is not known.
    /// - Complexity: O(n log n) in the entries of document and table.
    static func follow(
        _ document: FeedDocument, rules: FeedRules, feed: FeedState, log: EntryLog, group: GroupMemory,
        lane: String, backfillLane: String, lanes: Set<String>? = nil, isPartial: Bool = false,
        servedAt: Instant? = nil, at now: Instant
    ) -> Following {
        var follower = Follower(
            document, rules: rules, feed: feed, log: log, group: group, lane: lane, backfillLane: backfillLane,
            lanes: lanes, servedAt: servedAt, at: now)
        follower.run(isPartial: isPartial)
        return follower.result
    }

    private mutating func run(isPartial: Bool) {
        let ordered = newestFirst()
        let isTurned = ordered.first?.offset != 0
        let keys = EntryIdentity(rule: rules.identity, fallback: result.feed.identity).keys(of: ordered)
        let isRekeyed = result.feed.identity < keys.fallback
        if isRekeyed {
            result.feed.identity = keys.fallback
            let (shared, key) = keys.fallback == .link ? ("id", "links") : ("link", "links and headlines")
            result.notes.append(
                "more than 5 % of its entries share their \(shared) with another: they are known by their \(key) from now on"
            )
        }
        let beyond = keys.entries.count { $0.isBeyondSearch && known[$0.hash] == nil }
        if beyond > 0 {
            result.notes.append(
                "the expression of `identity` takes too many steps for \(counted(beyond, "new entry", plural: "new entries")): "
                    + "known by id or link instead. Repeats within repeats, as in `(a+)+`, have this effect")
        }
        for index in keys.nameless {
            decide(index, .unreadable, "it has neither id, link nor headline", id: "")
        }
        for index in keys.repeats { decide(index, .unchanged, "it stands in the document twice", id: "") }

        if result.feed.isPrimed {
            follow(keys, isPartial: isPartial, isRekeyed: isRekeyed)
        } else {
            prime(keys.entries)
        }
        for recall in unsentRecalls { cancelUnsent(recall.keyed, keeping: recall.state, recall.old) }
        result.decisions.sort { $0.index < $1.index }
        // A document that is empty or cut off does not show that an entry has left the feed.
        if !isPartial, !document.isCutOff, !keys.entries.isEmpty { dropLeftAlerts(Set(keys.entries.map(\.hash))) }
        noteLimits()
        noteUnread()
        if freeWithoutVersion > 0 {
            result.notes.append(
                "\(counted(freeWithoutVersion, "entry", plural: "entries")) that the publisher withheld came back as free under the "
                    + "same version, which may be an old copy: only a later version is sent")
        }
        if let newest = outdated.max() {
            result.notes.append(
                "\(counted(outdated.count, "new entry", plural: "new entries")) came with dates older than `maxAge`, the newest "
                    + "\((now - newest).words) old: not sent. If its dates are in another zone, set `zone`")
        }
        if let because = unreadable.first {
            result.notes.append(
                "\(counted(unreadable.count, "new entry", plural: "new entries")) cannot become an event yet: \(because)"
            )
        }
        if let first = duplicatesByLink.first {
            result.notes.append(
                "\(counted(duplicatesByLink.count, "entry", plural: "entries")) not sent, because another feed of the group has "
                    + "brought the link with another headline. The first is `\(first.id.prefix(100))`, whose link came from `\(first.other)`"
            )
        }
        orderEvents(isTurned: isTurned)
        if isPartial { leaveOut() } else { forget(keys.entries) }
        learnGap(keys.entries)
    }

    /// The entries in the order that readers expect. A feed whose newest entry comes last is reversed, because the
    /// limit of entries used would hide its news. Most pairs of neighbours decide, because some dates are wrong.
    private func newestFirst() -> [(offset: Int, element: FeedEntry)] {
        let all = document.entries.enumerated().map { ($0.offset, plausible($0.element)) }
        let dates = all.compactMap(\.1.publishedAt).filter { $0 <= now }
        var rises = 0
        for (date, next) in zip(dates, dates.dropFirst()) { rises += date < next ? 1 : date > next ? -1 : 0 }
        return rises > 0 ? all.reversed() : all
    }

    /// Removes dates that do not tell the entry's age, such as those far ahead. A date ahead is an embargo if the
    /// feed's rules say so.
    private func plausible(_ entry: FeedEntry) -> FeedEntry {
        var entry = entry
        if rules.futureDatesAreEmbargoes, entry.embargo == .none, let date = entry.publishedAt, date > now {
            entry.embargo = .until(date)
        }
        if let date = entry.publishedAt, !FeedDate.isPlausible(date, at: now) || isCurrentDay(date, entry) {
            entry.publishedAt = nil
        }
        if let date = entry.updatedAt, !FeedDate.isPlausible(date, at: now) { entry.updatedAt = nil }
        return entry
    }

    /// True for the date of a whole day, which is midnight, until the day has ended everywhere on Earth.
    private func isCurrentDay(_ date: Instant, _ entry: FeedEntry) -> Bool {
        let seconds = date.nanoseconds / 1_000_000_000
        let isMidnight = seconds % 86_400 == 0 || (seconds + Int64(rules.zoneMinutes) * 60) % 86_400 == 0
        return (isMidnight && date.nanoseconds % 1_000_000_000 == 0 || entry.isDatedMidnight)
            && now < date + .seconds(36 * 3_600)
    }

    // MARK: - Recording decisions

    mutating func decide(
        _ index: Int, _ action: Decision.Action, _ because: String, id: String, event: NewsEvent? = nil,
        lane: String? = nil
    ) {
        result.decisions.append(
            Decision(index: index, action: action, because: because, id: id, event: event, lane: lane))
    }

    mutating func decide(
        _ keyed: EntryIdentity.Keyed, _ action: Decision.Action, _ because: String, keeping state: EntryState?,
        held: Following.Held = .kept
    ) {
        decide(keyed.index, action, because, id: eventID(keyed))
        guard let state else { return }
        result.changes.append(
            Following.Change(
                hash: keyed.hash, state: state, name: name(of: keyed, state), heldBack: held, former: keyed.former))
    }

    /// Records the decision to write an event.
    mutating func write(
        _ keyed: EntryIdentity.Keyed, _ action: Decision.Action, _ because: String, _ event: NewsEvent,
        lane: String, keeping state: EntryState, held: Following.Held = .dropped
    ) {
        decide(keyed.index, action, because, id: event.id, event: event, lane: lane)
        let change = Following.Change(
            hash: keyed.hash, state: state, event: Following.Written(lane: lane, event: event),
            name: name(of: keyed, state), heldBack: held, former: keyed.former)
        written.append((keyed.index, change))
    }

    /// Puts events in the order of writing: by date if all have one, otherwise from the bottom of the document upwards.
    /// - Parameter isTurned: true if the document's newest entry comes last.
    private mutating func orderEvents(isTurned: Bool) {
        guard !written.isEmpty else { return }
        written.sort { isTurned ? $0.index < $1.index : $0.index > $1.index }
        let dates = written.compactMap { $0.change.event?.event.publishedAt }
        if dates.count == written.count {
            let places = dates.indices.sorted { (dates[$0], $0) < (dates[$1], $1) }
            written = places.map { written[$0] }
        }
        result.changes += written.map(\.change)
        result.feed.lastNewAt = now
    }

    /// Leaves out new entries of a push that need no event, if there is no room for more. A poll decides about them, and forgets others. A
    /// hub could bring any number between two polls.
    private mutating func leaveOut() {
        let known = known
        guard known.count >= EntryTable.rowsMax else { return }
        result.changes.removeAll { change in
            guard change.event == nil, case .kept = change.heldBack else { return false }
            return known[change.hash] == nil
        }
    }

    private mutating func forget(_ entries: [EntryIdentity.Keyed]) {
        let seen = Set(entries.map(\.hash))
        for hash in known.forgettable(documentLength: document.entries.count, seen: seen, at: minute) {
            result.changes.append(Following.Change(hash: hash, state: nil))
        }
    }

    /// Computes the median gap from the newest 21 dates, or from the times of first sight if there are no dates.
    private mutating func learnGap(_ entries: [EntryIdentity.Keyed]) {
        var dates = entries.compactMap(\.entry.publishedAt).filter { $0 <= now }
        if dates.isEmpty {
            let primed = result.feed.primedAt.map(Minute.of) ?? minute
            dates = known.rows.lazy.filter { $0.state.standing != .moved }.map(\.state.firstSeen).filter { $0 > primed }
                .map(Minute.instant)
        }
        dates.sort(by: >)
        let newest = dates.prefix(21)
        guard newest.count > 2 else { return }
        let gaps = zip(newest, newest.dropFirst()).map { $0 - $1 }.sorted()
        result.feed.medianGap = gaps[gaps.count / 2]
    }
}
