import ByteText
import NewsModel

// Unknown entries, which are news unless they are old, known under another id, or too many.

extension Follower {
    /// - Parameters:
    ///   - isPartial: true if the document contains only new entries.
    ///   - isRekeyed: true if another rule than before made all keys.
    mutating func follow(_ keys: EntryIdentity.Result, isPartial: Bool, isRekeyed: Bool) {
        let unseen = keys.entries.filter { known[$0.hash]?.standing ?? .moved == .moved }
        let moved = movedEntries(unseen, among: keys.entries, isPartial: isPartial, isRekeyed: isRekeyed)
        result.recognized = keys.entries.count - unseen.count + moved.count
        let rebuiltAfter =
            isPartial ? nil : newestStory(replacedBy: unseen.count - moved.count, of: keys.entries.count)
        var rebuilt = 0
        var candidates: [EntryIdentity.Keyed] = []
        var told = Set(known.told(near: Minute.of(servedAt)))
        // The newest date of the known entries above the present one. An older one was moved up or brought back.
        var newestAbove = Instant.distantPast
        // Not every feed is sorted, so that a late place says nothing about the age of an entry that has a date.
        let dated = newestByDate(keys.entries.filter { $0.entry.publishedAt != nil })
        let latest = Set(dated.prefix(FeedLimits.entriesUsed).map(\.index))
        for (rank, keyed) in keys.entries.enumerated() {
            let old = known[keyed.hash]
            // An entry does not go back to a former id in a document that may be a former copy.
            if let former = moved[keyed.index], !isPartial || old == nil {
                followMoved(keyed, from: former)
                continue
            }
            if let old {
                newestAbove = max(newestAbove, keyed.entry.publishedAt ?? .distantFuture)
                if old.standing == .moved {
                    isInDoubt = isInDoubt || moved[keyed.index] != nil
                    unchanged(keyed, old, "another entry of the feed continues it")
                } else if isPartial, mayBeFormer(keyed, old) {
                    isInDoubt = true
                    unchanged(keyed, old, "a hub pushed what may be a former copy of it: the next poll decides")
                } else {
                    followKnown(keyed, old)
                }
                continue
            }
            let meaning = EntryMeaning(keyed.entry, rules: rules)
            let isAboveKnown = keyed.entry.publishedAt.map { newestAbove < $0 } ?? (newestAbove == .distantPast)
            var state = freshState(keyed, meaning)
            if meaning.status == .canceled {
                state.version = "0"
                unsentRecalls.append((keyed, state, nil))
            } else if meaning.isHeld {
                followWithheld(keyed, state)
            } else if !keyed.entry.isStory {
                decide(keyed, .noise, "it is no story but a picture, a video or the like", keeping: state)
            } else if let story = state.linkAndTitle, !told.insert(story).inserted {
                decide(keyed, .noise, "its link and headline came under another id minutes ago", keeping: state)
            } else if rank >= FeedLimits.entriesUsed, !latest.contains(keyed.index) {
                if reasonForStale(keyed.entry, isAboveKnown: isAboveKnown) == nil || isLate(keyed.entry) {
                    beyondUsed += 1
                }
                let used = FeedLimits.entriesUsed
                let because =
                    "it is neither among the first \(used) entries nor among the \(used) with the latest dates"
                decide(keyed, .backlog, because, keeping: state)
            } else if sendsFirstReading, mayBeOfFirstReading(keyed.entry) {
                alert(keyed, meaning, because: Self.firstSight, lane: backfillLane, keeping: &state, nil)
            } else if let because = reasonForStale(keyed.entry, isAboveKnown: isAboveKnown) {
                if isAboveKnown { noteDate(of: keyed.entry) }
                followLate(keyed, meaning, state, because)
            } else if let rebuiltAfter, !isNews(keyed.entry, after: rebuiltAfter) {
                rebuilt += 1
                let because = "nearly all entries are unknown, and its date is not later than the newest known story"
                decide(keyed, .backlog, because, keeping: state)
            } else if let other = otherFeed(keyed, state) {
                leave(keyed, to: other, state)
            } else {
                candidates.append(keyed)
            }
        }
        if rebuilt > 0 {
            result.notes.append(
                "\(counted(rebuilt, "entry", plural: "entries")) came at once in place of nearly all others, without later dates than "
                    + "these: not sent, because its site was probably rebuilt")
        }
        alertNewest(candidates, because: "it is new")
    }

    /// Returns true if a copy that a hub pushed may be one that a poll has overtaken: it is not proven to be newer, and would bring
    /// back a former text or what was withdrawn, or end an embargo. The polls that follow may be answered with "not changed", and would
    /// not correct it.
    private func mayBeFormer(_ keyed: EntryIdentity.Keyed, _ old: EntryState) -> Bool {
        let meaning = EntryMeaning(keyed.entry, rules: rules)
        guard meaning.status != .canceled, !meaning.isHeld, versionAge(of: keyed.entry, old) != .newer,
            Second.of(keyed.entry.updatedAt) <= old.updatedAt
        else { return false }
        let prints = Prints(keyed)
        let print = prints.significant(for: rules.updates)
        let ends = embargoes(prints, old)
        return old.standing == .canceled || old.standing.isHeld || ends.new < ends.old
            || print != old.significant(for: rules.updates) && old.hasLeft(print, at: minute)
    }

    /// Alerts readers of at most `maxPerPoll` candidates, the newest ones. The others are late if they appeared while nobody polled,
    /// and otherwise become known.
    mutating func alertNewest(_ candidates: [EntryIdentity.Keyed], because: String) {
        var dropped = 0
        for (rank, keyed) in newestByDate(candidates).enumerated() {
            let meaning = EntryMeaning(keyed.entry, rules: rules)
            var state = freshState(keyed, meaning)
            if rank < rules.maxPerPoll {
                // The alert may have to replace one that waits for a former embargo, and whose state is lost.
                if isFirstReading { state.skipLostVersions(keyed.entry.version) }
                alert(keyed, meaning, because: because, lane: lane, keeping: &state, nil)
            } else if wasMissed(keyed.entry), !lateLane.isEmpty {
                alertLate(keyed, meaning, state)
            } else {
                dropped += 1
                decide(
                    keyed, .backlog, "more than `maxPerPoll` (\(rules.maxPerPoll)) new entries came at once",
                    keeping: state)
            }
        }
        if dropped > 0 {
            result.notes.append(
                "\(candidates.count) new entries came at once; \(dropped) beyond `maxPerPoll` are not sent"
            )
        }
    }

    /// The entries by their dates, the newest first; in the order given if one of them has no date.
    func newestByDate(_ entries: [EntryIdentity.Keyed]) -> [EntryIdentity.Keyed] {
        let dates = entries.compactMap { keyed in keyed.entry.publishedAt.map { newsDate($0, keyed.entry) } }
        guard dates.count == entries.count else { return entries }
        return zip(dates, entries).enumerated().sorted { ($1.element.0, $0.offset) < ($0.element.0, $1.offset) }
            .map(\.element.1)
    }

    /// Follows a withheld entry that is seen for the first time, and is news when it is free. It is backlog if the first
    /// reading may have found it free.
    private mutating func followWithheld(_ keyed: EntryIdentity.Keyed, _ state: EntryState) {
        var state = state
        state.isLate = mayBeOfFirstReading(keyed.entry)
        if state.isLate, !sendsFirstReading {
            (state.isLate, state.standing) = (false, .known)
            decide(keyed, .backlog, "it may have stood in the feed when the feed was first read", keeping: state)
        } else {
            decide(keyed, .withheld, "the publisher withholds it: only a later version frees it", keeping: state)
        }
    }

    // MARK: - Rebuilt

    /// Returns the minute in which the newest known story appeared if nearly all entries of a document are unknown. A site that
    /// is rebuilt may change ids, links and headlines at once, so that only dates distinguish news from the backlog.
    private func newestStory(replacedBy unknown: Int, of count: Int) -> UInt32? {
        guard unknown > max(5, count * 4 / 5) else { return nil }
        let appeared = known.rows.filter { $0.state.standing != .moved }.map(\.state.firstSeen)
        // A clock that was ahead has dated some after the poll that brought them.
        let last = Minute.of(min(result.feed.lastSuccessAt ?? servedAt, servedAt))
        return appeared.count * 2 < unknown ? nil : appeared.filter { $0 <= last }.max()
    }

    private func isNews(_ entry: FeedEntry, after newest: UInt32) -> Bool {
        entry.publishedAt.map { Minute.of(newsDate($0, entry)) > newest } ?? rules.isUndated
    }

    // MARK: - Old

    /// The reason why the entry is not news; `nil` if it is news.
    func reasonForStale(_ entry: FeedEntry, isAboveKnown: Bool) -> String? {
        if isUnderEmbargo(entry) { return nil }
        guard let date = entry.publishedAt else {
            if result.feed.isHalfPrimed { return "it may have stood in the feed when the feed was first read" }
            if rules.isUndated || isAboveKnown { return nil }
            return "it has no date and stands below entries that are known"
        }
        if let primedAt = result.feed.primedAt {
            // An entry appears some time after its date, because publishers and caches take their time. Part of the
            // first reading may not be stored yet, and then only the date distinguishes the backlog.
            let lag = isAboveKnown && !result.feed.isHalfPrimed ? Self.lagMax : .zero
            if newsDate(date, entry) < primedAt - lag { return "it is older than the first reading of the feed" }
        }
        return isTooOld(date, entry) ? "it is older than `maxAge`" : nil
    }

    private static let lagMax = Duration.seconds(600)

    /// True for an unknown entry that may have stood in the feed when the feed was first read, because not all entries of
    /// that reading are known.
    private func mayBeOfFirstReading(_ entry: FeedEntry) -> Bool {
        guard result.feed.isHalfPrimed, let primedAt = result.feed.primedAt, !isUnderEmbargo(entry) else {
            return false
        }
        return entry.publishedAt.map { newsDate($0, entry) < primedAt } ?? true
    }

    func isTooOld(_ date: Instant, _ entry: FeedEntry) -> Bool {
        rules.maxAge.map { newsDate(date, entry) < servedAt - $0 } ?? false
    }

    /// The time at which the entry became news: its date, or the end of its embargo if that is later.
    func newsDate(_ date: Instant, _ entry: FeedEntry) -> Instant {
        if case .until(let end) = entry.embargo { return max(date, end) }
        return date
    }

    /// True if nobody polled when the entry appeared, and for longer than `maxAge`.
    private func isLate(_ entry: FeedEntry) -> Bool {
        guard let date = entry.publishedAt, let maxAge = rules.maxAge, let last = result.feed.lastSuccessAt else {
            return false
        }
        return now - last > maxAge && newsDate(date, entry) > last
            && newsDate(date, entry) >= result.feed.primedAt ?? .distantPast
    }

    /// True if the entry appeared while nobody polled the feed for longer than usual, although it is not too old for news.
    private func wasMissed(_ entry: FeedEntry) -> Bool {
        guard !isFirstReading, result.feed.unpolledFor(.zero, at: now) != nil, let last = result.feed.lastSuccessAt
        else {
            return false
        }
        return entry.publishedAt.map { newsDate($0, entry) > last } ?? false
    }

    /// The lane for what appeared while nobody polled; empty without such a lane.
    private var lateLane: String { rules.catchUpIsLive ? lane : backfillLane }
    private static let unpolled = "it appeared while the feed was not polled"

    /// Follows an old entry that is seen for the first time. A late one goes to the backfill lane, or to the feed's own lane under
    /// `catchUpIsLive`.
    private mutating func followLate(
        _ keyed: EntryIdentity.Keyed, _ meaning: EntryMeaning, _ state: EntryState, _ because: String
    ) {
        guard isLate(keyed.entry), !lateLane.isEmpty else {
            decide(keyed, .stale, because, keeping: state)
            return
        }
        alertLate(keyed, meaning, state)
    }

    private mutating func alertLate(_ keyed: EntryIdentity.Keyed, _ meaning: EntryMeaning, _ state: EntryState) {
        var state = state
        var late = state
        late.isLate = lateLane == backfillLane
        if let other = otherFeed(keyed, late) {
            leave(keyed, to: other, state)
            return
        }
        alert(keyed, meaning, because: Self.unpolled, lane: lateLane, keeping: &state, nil)
    }

    /// Remembers the date of a new entry that is too old although the feed was polled while it appeared.
    private mutating func noteDate(of entry: FeedEntry) {
        guard let date = entry.publishedAt, isTooOld(date, entry), let last = result.feed.lastSuccessAt,
            let maxAge = rules.maxAge, now - last <= maxAge
        else { return }
        outdated.append(date)
    }

    /// Returns the feed of the group that has brought the link or the headline of an entry no later than the entry may be published.
    func otherFeed(_ keyed: EntryIdentity.Keyed, _ state: EntryState) -> String? {
        if rules.group == nil { return nil }
        var state = state
        if known.sharesLink(of: state, besides: [keyed.hash, keyed.former]) { state.link = 0 }
        state.isLate = lane(of: state) == backfillLane
        return group.feed(thatBrought: state, besides: rules.name, at: minute)
    }

    /// Records that another feed of the group sends the entry's story. An alert that is held back for the entry is dropped.
    mutating func leave(_ keyed: EntryIdentity.Keyed, to other: String, _ state: EntryState) {
        var state = state
        (state.standing, state.link) = (.duplicate, 0)
        if otherFeed(keyed, state) == nil { duplicatesByLink.append((keyed.entry.id ?? keyed.key, other)) }
        state.link = keyed.link
        decide(keyed, .duplicate, "feed `\(other)` of the same group has brought it", keeping: state, held: .dropped)
    }
}
