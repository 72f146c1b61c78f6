import NewsModel

// Entries that are not known: news, unless they are old, known under another id, or too many.

extension Follower {
    /// - Parameter isRekeyed: all keys are made by another rule than before.
    mutating func follow(_ keys: EntryIdentity.Result, isRekeyed: Bool) {
        let unseen = keys.entries.filter { known[$0.hash] == nil }
        let moved = knownUnderOtherKeys(unseen, among: keys.entries, isRekeyed: isRekeyed)
        result.rekeyed = moved.count
        let firstKnown = keys.entries.firstIndex { known[$0.hash] != nil } ?? keys.entries.count
        var candidates: [EntryIdentity.Keyed] = []
        var told = Set(known.told(near: minute))
        for (rank, keyed) in keys.entries.enumerated() {
            if let old = known[keyed.hash] {
                followKnown(keyed, old)
                continue
            }
            let meaning = EntryMeaning(keyed.entry, rules: rules)
            var state = freshState(keyed, meaning)
            if moved.contains(keyed.index) {
                if state.standing == .known || state.standing == .canceled { state.standing = .known }
                decide(keyed, .noise, "it is known under another id", keeping: state)
            } else if meaning.status == .canceled {
                state.version = "0"
                cancel(keyed, meaning, after: "0", keeping: &state)
            } else if meaning.isHeld {
                decide(keyed, .withheld, "the publisher withholds it: only a later version frees it", keeping: state)
            } else if !keyed.entry.isStory {
                decide(keyed, .noise, "it is no story but a picture, a video or the like", keeping: state)
            } else if let story = state.linkAndTitle, !told.insert(story).inserted {
                decide(keyed, .noise, "its link and headline came under another id minutes ago", keeping: state)
            } else if rank >= FeedLimits.entriesUsed {
                decide(keyed, .backlog, "it stands below the first \(FeedLimits.entriesUsed) entries", keeping: state)
            } else if let because = reasonForStale(keyed.entry, isAboveKnown: rank < firstKnown) {
                followLate(keyed, meaning, state, because)
            } else if let other = otherFeed(state) {
                decide(keyed, .duplicate, "feed `\(other)` of the same group has brought it", keeping: state)
            } else {
                candidates.append(keyed)
            }
        }
        alertNewest(candidates)
    }

    /// At most `maxPerPoll` of them, the newest; the rest becomes known.
    private mutating func alertNewest(_ candidates: [EntryIdentity.Keyed]) {
        for (rank, keyed) in candidates.enumerated() {
            let meaning = EntryMeaning(keyed.entry, rules: rules)
            var state = freshState(keyed, meaning)
            if rank < rules.maxPerPoll {
                // A story that stands in this document under two ids is one for the group too.
                alert(keyed, meaning, because: "it is new", lane: lane, keeping: &state)
            } else {
                decide(
                    keyed, .backlog, "more than `maxPerPoll` (\(rules.maxPerPoll)) new entries came at once",
                    keeping: state)
            }
        }
        if candidates.count > rules.maxPerPoll {
            result.notes.append(
                "\(candidates.count) new entries came at once; \(candidates.count - rules.maxPerPoll) beyond `maxPerPoll` are not sent"
            )
        }
    }

    // MARK: - Old

    /// Why the entry is no news; `nil` if it is.
    private func reasonForStale(_ entry: FeedEntry, isAboveKnown: Bool) -> String? {
        guard let date = entry.publishedAt else {
            if rules.isUndated || isAboveKnown { return nil }
            return "it has no date and stands below entries that are known"
        }
        if let primedAt = result.feed.primedAt, newsDate(date, entry) < primedAt {
            return "it is older than the first reading of the feed"
        }
        return isTooOld(date, entry) ? "it is older than `maxAge`" : nil
    }

    func isTooOld(_ date: Instant, _ entry: FeedEntry) -> Bool {
        rules.maxAge.map { newsDate(date, entry) < now - $0 } ?? false
    }

    /// When the entry became news: its age counts from the end of its embargo.
    private func newsDate(_ date: Instant, _ entry: FeedEntry) -> Instant {
        if case .until(let end) = entry.embargo { return max(date, end) }
        return date
    }

    /// An old entry that is seen for the first time. If nobody polled when it appeared, it is no ghost but late: it goes
    /// to the backfill lane.
    private mutating func followLate(
        _ keyed: EntryIdentity.Keyed, _ meaning: EntryMeaning, _ state: EntryState, _ because: String
    ) {
        var state = state
        guard let date = keyed.entry.publishedAt, let maxAge = rules.maxAge, let last = result.feed.lastSuccessAt,
            now - last > maxAge, newsDate(date, keyed.entry) > last,
            newsDate(date, keyed.entry) >= result.feed.primedAt ?? .distantPast
        else {
            decide(keyed, .stale, because, keeping: state)
            return
        }
        let late = rules.catchUpIsLive ? lane : backfillLane
        guard !late.isEmpty else {
            decide(keyed, .stale, because, keeping: state)
            return
        }
        if let other = otherFeed(state) {
            decide(keyed, .duplicate, "feed `\(other)` of the same group has brought it", keeping: state)
            return
        }
        alert(keyed, meaning, because: "it appeared while the feed was not polled", lane: late, keeping: &state)
    }

    private func otherFeed(_ state: EntryState) -> String? {
        rules.group == nil
            ? nil : group.feed(thatBrought: state.link, title: state.title, besides: rules.name, at: minute)
    }

    // MARK: - Known under another id

    /// The places of unseen entries that are known entries under new ids.
    ///
    /// One of them: headline and link are those of a known entry whose own id is gone from the document. Many at once: more
    /// than half of the document and more than five are unseen, and headline or link are known. Links that several
    /// entries share say nothing.
    private mutating func knownUnderOtherKeys(
        _ unseen: [EntryIdentity.Keyed], among entries: [EntryIdentity.Keyed], isRekeyed: Bool
    ) -> Set<Int> {
        guard !unseen.isEmpty, !known.isEmpty else { return [] }
        let present = Set(entries.map(\.hash))
        var linkCounts: [UInt64: Int] = [:]
        for keyed in entries where keyed.link != 0 { linkCounts[keyed.link, default: 0] += 1 }
        var links: Set<UInt64> = []
        var titles: Set<UInt64> = []
        var pairs: Set<LinkAndTitle> = []
        for row in known.rows where !present.contains(row.hash) {
            if row.state.link != 0 { links.insert(row.state.link) }
            if row.state.title != 0 { titles.insert(row.state.title) }
            if let pair = row.state.linkAndTitle { pairs.insert(pair) }
        }
        func hasOwnLink(_ keyed: EntryIdentity.Keyed) -> Bool { linkCounts[keyed.link] == 1 }
        let similar = unseen.filter { (hasOwnLink($0) && links.contains($0.link)) || titles.contains($0.title) }
        let isMass = unseen.count > max(5, entries.count / 2) && similar.count * 2 > unseen.count
        if isMass || (isRekeyed && !similar.isEmpty) {
            result.notes.append("\(similar.count) of its entries came back under new ids; they are not sent again")
            return Set(similar.map(\.index))
        }
        return Set(
            unseen.filter { hasOwnLink($0) && pairs.contains(LinkAndTitle(link: $0.link, title: $0.title)) }.map(
                \.index))
    }
}
