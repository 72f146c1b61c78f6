import ByteText
import NewsModel

// The first reading of a feed, which makes everything in it known except what is under embargo.

extension Follower {
    mutating func prime(_ entries: [EntryIdentity.Keyed]) {
        result.feed.primedAt = servedAt
        let sent = sentAtFirstSight(entries)
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
            guard sent.contains(keyed.index) else {
                decide(keyed, .backlog, "it stood in the feed when the feed was first read", keeping: state)
                continue
            }
            let lane = sendsFirstReading ? backfillLane : lane
            alert(keyed, meaning, because: Self.firstSight, lane: lane, keeping: &state, nil)
        }
        alertNewest(embargoed, because: "its embargo ends after the first reading of the feed")
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
        let version = (old == nil ? own : nil) ?? state.nextVersion(own)
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
