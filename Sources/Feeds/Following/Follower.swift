public import NewsModel

/// Decides what follows from one document of one feed: what is news, what is a new version, and what is noise.
///
/// The rules in one breath: nothing that stood in the feed at first sight, nothing old, nothing twice, nothing for a date
/// alone; a recall always.
public struct Follower {
    let rules: FeedRules
    let document: FeedDocument
    let now: Instant
    let minute: UInt32
    let maker: EventMaker
    let lane: String
    let backfillLane: String
    let log: EntryLog
    var group: GroupMemory
    var result: Following
    /// The events so far, by the place of their entry.
    var written: [(index: Int, change: Following.Change)] = []
    /// Marks of entries that others continue. They are stored last: a process that ends before must not have forgotten the story.
    var leftBehind: [Following.Change] = []
    /// Events within the hour, those of this document included.
    var sentThisHour: Int
    /// Of this document.
    var heldBackNow = 0
    var heldBytes: Int
    var newlyLimited = 0
    var beyondHeldBack = 0

    var known: EntryTable { log.table }

    private init(
        _ document: FeedDocument, rules: FeedRules, feed: FeedState, log: EntryLog, group: GroupMemory,
        lane: String, backfillLane: String, at now: Instant
    ) {
        self.rules = rules
        self.document = document
        self.now = now
        minute = Minute.of(now)
        maker = EventMaker(rules: rules, language: document.language)
        self.lane = rules.lane ?? lane
        self.backfillLane = backfillLane
        self.log = log
        self.group = group
        sentThisHour = log.table.sent(inHourOf: minute)
        heldBytes = log.heldBack.values.reduce(0) { $0 + $1.intent.event.count }
        result = Following(feed: feed)
    }

    /// What would become of each entry if the feed had been empty when it was first read; in document order.
    public static func explain(_ document: FeedDocument, rules: FeedRules, at now: Instant) -> [Decision] {
        var feed = FeedState()
        feed.primedAt = .distantPast
        feed.lastSuccessAt = now
        let settings = IngestSettings()
        // How much a feed may send at once is no question about its entries.
        var rules = rules
        rules.maxPerHour = .max
        var follower = Follower(
            document, rules: rules, feed: feed, log: EntryLog(), group: GroupMemory(), lane: settings.lane,
            backfillLane: settings.backfillLane, at: now)
        follower.run(isPartial: false)
        follower.imagineEvents()
        return follower.result.decisions
    }

    /// Adds to each decision without an event the one that the entry would be, for people to look at.
    private mutating func imagineEvents() {
        let identity = EntryIdentity(feed: rules.name, rule: rules.identity, hasDegraded: result.feed.hasDegraded)
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
    ///   - group: what the feeds of the same group have brought lately; empty for a feed without a group.
    ///   - lane: for a feed that names none.
    ///   - isPartial: the document holds only what is new (a WebSub delivery): what is missing from it says nothing.
    /// - Complexity: O(n log n) in the entries of document and table.
    static func follow(
        _ document: FeedDocument, rules: FeedRules, feed: FeedState, log: EntryLog, group: GroupMemory,
        lane: String, backfillLane: String, isPartial: Bool = false, at now: Instant
    ) -> Following {
        var follower = Follower(
            document, rules: rules, feed: feed, log: log, group: group, lane: lane, backfillLane: backfillLane,
            at: now)
        follower.run(isPartial: isPartial)
        return follower.result
    }

    private mutating func run(isPartial: Bool) {
        let ordered = newestFirst()
        let hadDegraded = result.feed.hasDegraded
        let identity = EntryIdentity(feed: rules.name, rule: rules.identity, hasDegraded: hadDegraded)
        let keys = identity.keys(of: ordered)
        if keys.degrades {
            result.feed.hasDegraded = true
            result.notes.append(
                "more than 5 % of its entries share their id with another: they are known by their links from now on")
        }
        for index in keys.nameless {
            decide(index, .unreadable, "it has neither id, link nor headline", id: "")
        }
        for index in keys.repeats { decide(index, .unchanged, "it stands in the document twice", id: "") }

        if result.feed.isPrimed {
            follow(keys, isPartial: isPartial, isRekeyed: keys.degrades)
        } else {
            prime(keys.entries)
        }
        result.decisions.sort { $0.index < $1.index }
        if !isPartial { dropLeftAlerts(Set(keys.entries.map(\.hash))) }
        noteLimits()
        orderEvents()
        result.changes += leftBehind
        if !isPartial { forget(keys.entries) }
        learnGap(keys.entries)
    }

    /// The entries in the order that readers expect. A feed that puts its newest entry last is turned around, or the limit of
    /// entries used would hide its news.
    private func newestFirst() -> [(offset: Int, element: FeedEntry)] {
        let all = document.entries.prefix(FeedLimits.entriesRead).enumerated().map {
            ($0.offset, plausible($0.element))
        }
        let dates = all.lazy.compactMap(\.1.publishedAt)
        guard let first = dates.first, let last = dates.last, first < last else { return all }
        return all.reversed()
    }

    /// A date far ahead is as good as none.
    private func plausible(_ entry: FeedEntry) -> FeedEntry {
        var entry = entry
        if let date = entry.publishedAt, !FeedDate.isPlausible(date, at: now) { entry.publishedAt = nil }
        if let date = entry.updatedAt, !FeedDate.isPlausible(date, at: now) { entry.updatedAt = nil }
        return entry
    }

    // MARK: - Writing decisions down

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
            Following.Change(hash: keyed.hash, state: state, name: name(of: keyed, state), heldBack: held))
    }

    /// Decides that an event is written.
    mutating func write(
        _ keyed: EntryIdentity.Keyed, _ action: Decision.Action, _ because: String, _ event: NewsEvent,
        lane: String, keeping state: EntryState
    ) {
        decide(keyed.index, action, because, id: event.id, event: event, lane: lane)
        let change = Following.Change(
            hash: keyed.hash, state: state, event: Following.Written(lane: lane, event: event),
            name: name(of: keyed, state), heldBack: .dropped)
        written.append((keyed.index, change))
    }

    /// Events leave oldest first: by their dates if all have one, else from the bottom of the document upwards.
    private mutating func orderEvents() {
        let isTurned = newestFirst().first?.offset != 0
        written.sort { isTurned ? $0.index < $1.index : $0.index > $1.index }
        let dates = written.compactMap { $0.change.event?.event.publishedAt }
        if dates.count == written.count {
            let places = dates.indices.sorted { (dates[$0], $0) < (dates[$1], $1) }
            written = places.map { written[$0] }
        }
        result.changes += written.map(\.change)
        if !written.isEmpty { result.feed.lastNewAt = now }
    }

    private mutating func forget(_ entries: [EntryIdentity.Keyed]) {
        let seen = Set(entries.map(\.hash))
        for hash in known.forgettable(documentLength: document.entries.count, seen: seen, at: minute) {
            result.changes.append(Following.Change(hash: hash, state: nil))
        }
    }

    /// The median gap between the dates of the newest 20 entries.
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
