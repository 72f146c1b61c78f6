import ByteText
import NewsModel

// The first reading of a feed, which makes everything in it known except what is under embargo.
//
// The feed may have been read before, by processes whose state the topic has lost. Alerts of these may still wait, or be on phones.
// What withdraws or delays one is therefore written; it is harmless if there was no alert.

extension Follower {
    mutating func prime(_ entries: [EntryIdentity.Keyed]) {
        result.feed.primedAt = servedAt
        let sent = sentAtFirstSight(entries)
        let withdrawn = withdrawnAtFirstSight(entries)
        var embargoed: [EntryIdentity.Keyed] = []
        for keyed in entries {
            // The state topic has lost records of the feed, but not this one.
            if let old = known[keyed.hash] {
                if old.standing == .moved {
                    unchanged(keyed, old, "another entry of the feed continues it")
                } else {
                    followKnown(keyed, old)
                }
                continue
            }
            let meaning = EntryMeaning(keyed.entry, rules: rules)
            var state = freshState(keyed, meaning)
            if meaning.status == .usable, keyed.entry.isStory, isUnderEmbargo(keyed.entry) {
                embargoed.append(keyed)
                continue
            }
            if withdrawn.contains(keyed.index) {
                withdraw(keyed, meaning, keeping: state)
                continue
            }
            guard sent.contains(keyed.index) else {
                decide(keyed, .backlog, "it stood in the feed when the feed was first read", keeping: state)
                continue
            }
            let lane = sendsFirstReading ? backfillLane : lane
            alert(keyed, meaning, because: Self.firstSight, lane: lane, keeping: &state, nil)
        }
        alertNewest(embargoed, because: "its embargo ends after the first reading of the feed")
    }

    /// The indices of the recalled and withheld entries of which events are written: those changed within the last week, the newest first.
    /// An order by which a recall stands ends after a week, so that an earlier recall would have ended too.
    ///
    /// Recalls take orders that all editors share, so their number is that of `maxPerHour`. Those beyond it are not written later, because
    /// a feed of nothing but recalls would use up the orders.
    private func withdrawnAtFirstSight(_ entries: [EntryIdentity.Keyed]) -> Set<Int> {
        let recent = entries.filter { known[$0.hash] == nil }.compactMap {
            keyed -> (keyed: EntryIdentity.Keyed, changedAt: Instant)? in
            // Only their place in the document tells the age of entries without dates, so they follow the others.
            let changedAt = [keyed.entry.updatedAt, keyed.entry.publishedAt].compactMap(\.self).max()
            if let changedAt, changedAt < servedAt - Self.recallLasts { return nil }
            return (keyed, changedAt ?? .distantPast)
        }
        let newest = recent.enumerated().sorted {
            ($1.element.changedAt, $0.offset) < ($0.element.changedAt, $1.offset)
        }.map(\.element.keyed)
        let meanings = newest.map { (index: $0.index, meaning: EntryMeaning($0.entry, rules: rules)) }
        let recalled = meanings.filter { $0.meaning.status == .canceled }
            .prefix(min(max(rules.maxPerHour, 0), FeedLimits.entriesUsed))
        let held = meanings.filter { $0.meaning.isHeld }.prefix(FeedLimits.entriesUsed)
        return Set((recalled + held).map(\.index))
    }

    private static let recallLasts = Duration.seconds(7 * 86_400)

    /// Writes that an entry is recalled or withheld, in case a process whose state is lost has sent it. `maxPerHour` ignores this event,
    /// which would hold news back.
    private mutating func withdraw(
        _ keyed: EntryIdentity.Keyed, _ meaning: EntryMeaning, keeping fresh: EntryState
    ) {
        let own = keyed.entry.version
        var state = fresh
        state.skipLostVersions(own)
        let version = state.nextVersion(own)
        switch maker.event(keyed, id: eventID(keyed), version: version, change: nil, meaning: meaning) {
        case .failure(let refusal): decide(keyed, .unreadable, refusal.because, keeping: fresh)
        case .success(let event):
            state.setVersion(version, publishers: own)
            state.standing = meaning.isHeld ? .heldAfterSent : .canceled
            write(
                keyed, meaning.isHeld ? .withheld : .canceled,
                "an alert of it may have been sent before the feed was first read", event, lane: lane, keeping: state)
        }
    }

    static let firstSight = "the feed's `onFirstSight` sends it"

    /// True if all entries of the first reading go to the backfill lane.
    var sendsFirstReading: Bool { rules.onFirstSight == .all && !backfillLane.isEmpty }

    func isUnderEmbargo(_ entry: FeedEntry) -> Bool {
        if case .until(let end) = entry.embargo { end > servedAt } else { false }
    }

    /// The indices of the entries that `onFirstSight` sends.
    private mutating func sentAtFirstSight(_ entries: [EntryIdentity.Keyed]) -> Set<Int> {
        let count =
            switch rules.onFirstSight {
            case .silent: 0
            case .last(let count): max(count, 0)
            case .all: sendsFirstReading ? .max : 0
            }
        let usable = entries.filter {
            let meaning = EntryMeaning($0.entry, rules: rules)
            // Entries under embargo are sent in any case.
            return meaning.status == .usable && $0.entry.isStory && !isUnderEmbargo($0.entry)
        }
        let sent = newestByDate(usable).prefix(min(count, FeedLimits.entriesUsed))
        beyondUsed = min(count, usable.count) - sent.count
        return Set(sent.map(\.index))
    }

    /// The state of an entry that is seen for the first time, while nothing of it is written.
    func freshState(_ keyed: EntryIdentity.Keyed, _ meaning: EntryMeaning) -> EntryState {
        var state = EntryState()
        state.learn(Prints(keyed), of: keyed)
        state.firstSeen = Minute.of(servedAt)
        state.lastSeen = minute
        state.version = keyed.entry.version?.text ?? "0"
        state.standing = meaning.isHeld ? .held : meaning.status == .canceled ? .canceled : .known
        return state
    }

    /// Writes a new entry as an event, or holds it back when the feed has sent enough.
    /// - Parameter old: the state kept until now; `nil` for an entry that was not known.
    mutating func alert(
        _ keyed: EntryIdentity.Keyed, _ meaning: EntryMeaning, because: String, lane: String,
        keeping state: inout EntryState, _ old: EntryState?
    ) {
        state.isLate = lane == backfillLane
        let own = keyed.entry.version
        // A version that is stored already does not count a second time, although nothing was written under it.
        let isFirst = old == nil && own?.text == state.version
        let version = (isFirst ? own : nil) ?? state.nextVersion(own)
        switch maker.event(keyed, id: eventID(keyed), version: version, change: nil, meaning: meaning) {
        case .failure(let refusal):
            if state.standing == .known { state.standing = .unreadable }
            if old?.standing != .unreadable { unreadable.append(refusal.because) }
            decide(keyed, .unreadable, refusal.because, keeping: state)
        case .success(let event):
            // Events sent at first sight, and those on the backfill lane, disturb nobody. The limit ignores them.
            let isNews = !isFirstReading && lane != backfillLane
            if isNews, let limit = feedLimit {
                state.standing = .waiting
                // A version below that of any event. An entry that is stored already keeps its version, which must not decrease.
                if old == nil, own != nil { state.version = "-1" }
                holdBack(keyed, event, lane: lane, limit, staleAt: staleAt(keyed.entry), keeping: state, old)
                return
            }
            state.wasWritten(version, publishers: own, at: minute, for: rules.updates)
            if isNews { sentThisHour += 1 } else { state.versionsThisHour = 0 }
            write(keyed, .alert, because, event, lane: lane, keeping: state)
        }
    }

    /// The minute from which the entry is too old to be news.
    private func staleAt(_ entry: FeedEntry) -> UInt32 {
        guard let maxAge = rules.maxAge else { return Minute.never }
        let date = entry.publishedAt.map { newsDate($0, entry) }
        return Minute.of((date.map { min($0, now) } ?? now) + maxAge)
    }
}
