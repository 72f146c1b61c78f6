import NewsModel

// Entries that come back under another id.

extension Follower {
    /// Finds unseen entries that are known ones under new ids. Returns the hash of the former entry by index.
    ///
    /// An entry continues a known one that has left the document if their links or headlines are equal. A link or headline
    /// of several entries identifies none of them. Unless most of the document comes back at once, a headline alone
    /// counts only as `continuesByTitle` describes, and a link does not count where the entry replaces the former one.
    ///
    /// - Parameters:
    ///   - isPartial: true if the document contains only new entries. Link and headline must then both be equal.
    ///   - isRekeyed: true if another rule than before made all keys.
    mutating func movedEntries(
        _ unseen: [EntryIdentity.Keyed], among entries: [EntryIdentity.Keyed], isPartial: Bool, isRekeyed: Bool
    ) -> [Int: EntryHash] {
        guard !unseen.isEmpty, !known.isEmpty else { return [:] }
        let gone = GoneEntries(known, besides: Set(entries.map(\.hash)), at: minute)
        var counts: (links: [UInt64: Int], titles: [UInt64: Int]) = ([:], [:])
        for keyed in entries {
            if keyed.link != 0 { counts.links[keyed.link, default: 0] += 1 }
            if keyed.title != 0 { counts.titles[keyed.title, default: 0] += 1 }
        }
        func byLink(_ keyed: EntryIdentity.Keyed) -> EntryTable.Row? {
            counts.links[keyed.link] == 1 ? gone.byLink[keyed.link] ?? nil : nil
        }
        func byTitle(_ keyed: EntryIdentity.Keyed) -> EntryTable.Row? {
            counts.titles[keyed.title] == 1 ? gone.byTitle[keyed.title] : nil
        }
        let similar = unseen.filter { byLink($0) != nil || byTitle($0) != nil }
        let isMass =
            !isPartial
            && (isRekeyed || unseen.count > max(5, entries.count / 2) && similar.count * 2 > unseen.count)
        // The operator has said what identifies an entry.
        guard isMass || rules.identity == .automatic else { return [:] }
        var moved: [Int: EntryHash] = [:]
        var taken: Set<EntryHash> = []
        var replaced: [EntryHash] = []
        var unsent = 0
        for keyed in similar {
            var former = byLink(keyed).flatMap { !isPartial || $0.state.title == keyed.title ? $0 : nil }
            if let other = former, !isMass, isReplaced(other, by: keyed) {
                replaced.append(other.hash)
                former = nil
            }
            let isByTitle = former == nil
            if isByTitle, !isPartial {
                let hasOwnLink = counts.links[keyed.link] == 1
                former = byTitle(keyed).flatMap {
                    isMass || continuesByTitle($0, keyed, hasOwnLink: hasOwnLink) ? $0 : nil
                }
            }
            guard let row = former, isMass || canContinue(row, keyed), taken.insert(row.hash).inserted else { continue }
            moved[keyed.index] = row.hash
            // A publisher whose ids change with each request is reported once, not with each poll.
            let isUnsent = row.state.standing != .waiting && !hasOtherTimes(keyed, row.state)
            if isByTitle, isUnsent, !gone.movedTitles.contains(keyed.title), isNews(keyed) { unsent += 1 }
        }
        for hash in replaced where !taken.contains(hash) { leaveBehind(hash) }
        noteMoved(moved.count, isMass: isMass, unsent: unsent)
        return moved
    }

    /// - Parameter unsent: the entries that would be sent if another one had not had their headline before.
    private mutating func noteMoved(_ count: Int, isMass: Bool, unsent: Int) {
        if isMass, count > 0 {
            result.notes.append("\(count) of its entries came back under new ids; they are not sent again")
        } else if unsent == 1 {
            result.notes.append(
                "1 entry has the headline of one that left it recently, is taken for the same story and is not sent")
        } else if unsent > 1 {
            result.notes.append(
                "\(unsent) entries have the headlines of others that left it recently, are taken for the same stories and are not sent"
            )
        }
    }

    /// True when an entry has taken the place of a former one at the same link, and is another story: a page that always shows
    /// the present warning, for example. The former entry was never written, and the new one has another headline and a date
    /// after the former was first seen.
    private func isReplaced(_ row: EntryTable.Row, by keyed: EntryIdentity.Keyed) -> Bool {
        guard row.state.standing == .known || row.state.standing == .duplicate, row.state.title != keyed.title,
            let date = keyed.entry.publishedAt
        else { return false }
        // The time of the first reading is known exactly, that of a later one to the minute. A time in the future is that of a wrong
        // clock, which also dated the first reading.
        if let primedAt = result.feed.primedAt,
            row.state.firstSeen <= Minute.of(primedAt) || row.state.firstSeen > minute
        {
            return date > (row.state.firstSeen > minute ? now : primedAt)
        }
        return Minute.of(date) > row.state.firstSeen
    }

    /// True when an entry continues a former one because both have the same headline. This counts for some hours only: a
    /// morning briefing has the same headline every day.
    ///
    /// It does not count if the entry has a link of its own, which differs from that of the former entry, and was published an hour or
    /// more after the former entry appeared. Within the hour it counts, because some publishers change ids, links and dates with
    /// each request.
    private func continuesByTitle(_ row: EntryTable.Row, _ keyed: EntryIdentity.Keyed, hasOwnLink: Bool) -> Bool {
        let since = appearance(of: row)
        guard Minute.between(since, minute) <= GroupMemory.minutes else { return false }
        guard hasOwnLink, row.state.link != 0, row.state.link != keyed.link,
            let date = keyed.entry.publishedAt
        else { return true }
        return Minute.between(since, Minute.of(date)) < Self.sameStoryMinutes
    }

    /// Minutes in which the same headline is the same story, whatever its link and date.
    fileprivate static let sameStoryMinutes: UInt32 = 60

    /// The minute in which the entry was first seen. If it continues another one itself, the minute in which it was last seen.
    private func appearance(of row: EntryTable.Row) -> UInt32 {
        let isOften = log.names[row.hash]?.origin != nil
        return isOften ? max(row.state.firstSeen, row.state.lastSeen) : row.state.firstSeen
    }

    /// True for an entry that would be sent if it continued no other.
    private func isNews(_ keyed: EntryIdentity.Keyed) -> Bool {
        let meaning = EntryMeaning(keyed.entry, rules: rules)
        return meaning.status != .canceled && !meaning.isHeld && keyed.entry.isStory
            && reasonForStale(keyed.entry, isAboveKnown: true) == nil
    }

    /// Returns false if the text changed together with the id but the name of its sent events is unknown.
    private func canContinue(_ row: EntryTable.Row, _ keyed: EntryIdentity.Keyed) -> Bool {
        row.state.title == keyed.title || !row.state.standing.wasSent || log.names[row.hash] != nil
    }

    /// Follows an entry as the continuation of a former one.
    mutating func followMoved(_ keyed: EntryIdentity.Keyed, from former: EntryHash) {
        guard var old = known[former] else { return }
        var keyed = keyed
        keyed.former = former
        keyed.continues = log.names[former].map { EventName(id: $0.id, origin: $0.origin ?? former) }
        if keyed.continues?.origin == keyed.hash { keyed.continues?.origin = nil }
        if old.standing.isNamed, keyed.continues == nil { old.standing = .known }
        if let own = known[keyed.hash] {
            // A version that did not count under this id is skipped, because the next record must have a later one.
            old.setVersion(NewsEvent.Version(own.version), publishers: nil)
        }
        result.rekeyed += 1
        let meaning = EntryMeaning(keyed.entry, rules: rules)
        let held = log.heldBack[former].map(Following.Held.replaced) ?? .dropped
        if old.title == keyed.title, meaning.status != .canceled, !meaning.isHeld, !hasOtherTimes(keyed, old) {
            var state = old
            state.learn(Prints(keyed), of: keyed)
            state.lastSeen = minute
            // A recalled entry does not come back just because its id has changed.
            if state.standing == .canceled { state.standing = .known }
            decide(keyed, .noise, "it is known under another id", keeping: state, held: held)
        } else {
            followKnown(keyed, old)
            let isKept =
                result.changes.contains { $0.hash == keyed.hash } || written.contains { $0.change.hash == keyed.hash }
            if !isKept {
                result.changes.append(
                    Following.Change(
                        hash: keyed.hash, state: old, name: name(of: keyed, old), heldBack: held, former: former))
            }
        }
    }

    /// True if an alert was written of an entry, or waits to be, whose embargo or expiry is another one now.
    private func hasOtherTimes(_ keyed: EntryIdentity.Keyed, _ old: EntryState) -> Bool {
        guard old.standing == .sent || old.standing == .waiting else { return false }
        let prints = Prints(keyed)
        let ends = embargoes(prints, old)
        return ends.new != ends.old || prints.expiry != old.expiry
    }

    /// Marks an entry that another story has replaced, so that later entries do not continue it.
    private mutating func leaveBehind(_ former: EntryHash) {
        guard var left = known[former] else { return }
        left.leave(at: minute)
        result.changes.append(Following.Change(hash: former, state: left, heldBack: .dropped))
    }

    /// The name of the entry's events; `nil` if they have no name yet.
    func name(of keyed: EntryIdentity.Keyed, _ state: EntryState) -> EventName? {
        guard state.standing.isNamed else { return nil }
        return continuation(keyed) ?? EventName(id: eventID(keyed), origin: nil)
    }

    /// The id of the entry's events. If the entry has any, their id counts, even if another version would form another one.
    func eventID(_ keyed: EntryIdentity.Keyed) -> String {
        keyed.continues?.id ?? log.names[keyed.hash]?.id ?? EntryIdentity.eventID(feed: rules.name, key: keyed.key)
    }

    private func continuation(_ keyed: EntryIdentity.Keyed) -> EventName? {
        keyed.continues ?? log.names[keyed.hash].flatMap { $0.origin == nil ? nil : $0 }
    }
}

/// The known entries that are not in the document.
private struct GoneEntries {
    /// `nil` for a link that several of these entries have.
    var byLink: [UInt64: EntryTable.Row?] = [:]
    /// The entry with this headline that was first seen most recently.
    var byTitle: [UInt64: EntryTable.Row] = [:]
    /// Headlines of entries that others have continued within the last hour.
    var movedTitles: Set<UInt64> = []

    init(_ known: EntryTable, besides present: Set<EntryHash>, at minute: UInt32) {
        for row in known.rows {
            let (link, title) = (row.state.link, row.state.title)
            if row.state.standing == .moved {
                let age = Minute.between(row.state.lastSeen, minute)
                if age < Follower.sameStoryMinutes { movedTitles.insert(title) }
                continue
            }
            guard !present.contains(row.hash) else { continue }
            if link != 0 {
                let isShared = byLink.keys.contains(link)
                byLink.updateValue(isShared ? nil : row, forKey: link)
            }
            guard title != 0 else { continue }
            if let other = byTitle[title], other.state.firstSeen > row.state.firstSeen { continue }
            byTitle[title] = row
        }
    }
}
