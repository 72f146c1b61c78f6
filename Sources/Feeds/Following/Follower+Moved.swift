import NewsModel

// Entries that come back under another id.

extension Follower {
    /// The unseen entries that are known ones under new ids, by their place; with the key of the former entry.
    ///
    /// An entry whose own link or headline is that of an entry which has left the document continues it. Links and headlines
    /// that several entries of the document share say nothing. A headline alone counts for some hours only, unless
    /// most of the document has come back at once: a morning briefing has the same one every day.
    ///
    /// - Parameters:
    ///   - isPartial: the document holds only what is new. Only link and headline together say then that an entry is gone.
    ///   - isRekeyed: all keys are made by another rule than before.
    mutating func movedEntries(
        _ unseen: [EntryIdentity.Keyed], among entries: [EntryIdentity.Keyed], isPartial: Bool, isRekeyed: Bool
    ) -> [Int: EntryHash] {
        guard !unseen.isEmpty, !known.isEmpty else { return [:] }
        let gone = GoneEntries(known, besides: Set(entries.map(\.hash)))
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
        var moved: [Int: EntryHash] = [:]
        var taken: Set<EntryHash> = []
        for keyed in similar {
            let row: EntryTable.Row?
            if let same = byLink(keyed), !isPartial || same.state.title == keyed.title {
                row = same
            } else {
                row = isPartial ? nil : byTitle(keyed).flatMap { isMass || isRecent($0) ? $0 : nil }
            }
            guard let row, isMass || canContinue(row, keyed), taken.insert(row.hash).inserted else { continue }
            moved[keyed.index] = row.hash
        }
        if isMass, !moved.isEmpty {
            result.notes.append("\(moved.count) of its entries came back under new ids; they are not sent again")
        }
        return moved
    }

    /// A story whose text changed with its id can only be continued under the name that it had.
    private func canContinue(_ row: EntryTable.Row, _ keyed: EntryIdentity.Keyed) -> Bool {
        row.state.title == keyed.title || !row.state.standing.wasSent || log.names[row.hash] != nil
    }

    private func isRecent(_ row: EntryTable.Row) -> Bool {
        let isOften = log.names[row.hash]?.origin != nil
        let since = isOften ? max(row.state.firstSeen, row.state.lastSeen) : row.state.firstSeen
        return Minute.between(since, minute) <= GroupMemory.minutes
    }

    /// Follows an entry as the one that it continues.
    mutating func followMoved(_ keyed: EntryIdentity.Keyed, from former: EntryHash) {
        guard var old = known[former] else { return }
        var keyed = keyed
        keyed.continues = log.names[former].map { EventName(id: $0.id, origin: $0.origin ?? former) }
        if keyed.continues?.origin == keyed.hash { keyed.continues?.origin = nil }
        if old.standing.isNamed, keyed.continues == nil { old.standing = .known }
        result.rekeyed += 1
        let meaning = EntryMeaning(keyed.entry, rules: rules)
        let held = log.heldBack[former].map(Following.Held.replaced) ?? .dropped
        if old.title == keyed.title, meaning.status != .canceled, !meaning.isHeld {
            var state = old
            state.learn(Prints(keyed), of: keyed)
            state.lastSeen = minute
            // What was recalled does not come back by changing its id alone.
            if state.standing == .canceled { state.standing = .known }
            decide(keyed, .noise, "it is known under another id", keeping: state, held: held)
        } else {
            followKnown(keyed, old)
            let isKept =
                result.changes.contains { $0.hash == keyed.hash } || written.contains { $0.change.hash == keyed.hash }
            if !isKept {
                result.changes.append(
                    Following.Change(hash: keyed.hash, state: old, name: name(of: keyed, old), heldBack: held))
            }
        }
        var left = old
        left.standing = .moved
        left.lastSeen = minute
        left.versionsThisHour = 0
        let change = Following.Change(hash: former, state: left, name: log.names[former], heldBack: .dropped)
        leftBehind.append(change)
    }

    /// The name of the entry's events, if it has any.
    func name(of keyed: EntryIdentity.Keyed, _ state: EntryState) -> EventName? {
        guard state.standing.isNamed else { return nil }
        return continuation(keyed) ?? EventName(id: eventID(keyed), origin: nil)
    }

    func eventID(_ keyed: EntryIdentity.Keyed) -> String {
        continuation(keyed)?.id ?? EntryIdentity.eventID(feed: rules.name, key: keyed.key)
    }

    private func continuation(_ keyed: EntryIdentity.Keyed) -> EventName? {
        keyed.continues ?? log.names[keyed.hash].flatMap { $0.origin == nil ? nil : $0 }
    }
}

/// The entries that are known and not in the document.
private struct GoneEntries {
    /// `nil` for a link that several of them have.
    var byLink: [UInt64: EntryTable.Row?] = [:]
    /// The one that was seen first last.
    var byTitle: [UInt64: EntryTable.Row] = [:]

    init(_ known: EntryTable, besides present: Set<EntryHash>) {
        for row in known.rows where row.state.standing != .moved && !present.contains(row.hash) {
            let (link, title) = (row.state.link, row.state.title)
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
