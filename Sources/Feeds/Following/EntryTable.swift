/// The entries of one feed, sorted by the hashes of their keys. A hash table would take twice the memory.
struct EntryTable: Sendable, Hashable {
    private(set) var rows: [Row] = []

    struct Row: Sendable, Hashable {
        var hash: EntryHash
        var state: EntryState
    }

    /// Maximum number of entries kept for one feed. Beyond it, those that were seen longest ago are forgotten.
    static let rowsMax = 10_000

    init() {}

    var count: Int { rows.count }
    var isEmpty: Bool { rows.isEmpty }

    subscript(hash: EntryHash) -> EntryState? {
        get {
            let index = place(of: hash)
            return index < rows.count && rows[index].hash == hash ? rows[index].state : nil
        }
        set {
            let index = place(of: hash)
            let exists = index < rows.count && rows[index].hash == hash
            switch (newValue, exists) {
            case (let state?, true): rows[index].state = state
            case (let state?, false): insert(Row(hash: hash, state: state), at: index)
            case (nil, true): rows.remove(at: index)
            case (nil, false): break
            }
        }
    }

    /// Stories sent or waiting, of entries first seen within ten minutes of `minute`. The same story under another id
    /// is not new: the publisher changed its id, perhaps while two processes followed the feed.
    func told(near minute: UInt32) -> some Sequence<LinkAndTitle> {
        rows.lazy.map(\.state).filter { Self.isTold($0, near: minute) }.compactMap(\.linkAndTitle)
    }

    /// The only other entry with the link, which identifies no story if several entries share it.
    func only(at link: UInt64, besides hash: EntryHash) -> EntryHash? {
        guard link != 0 else { return nil }
        let others = rows.lazy.filter {
            $0.state.link == link && $0.state.standing != .moved && $0.hash != hash
        }.prefix(2)
        return others.count == 1 ? others.first?.hash : nil
    }

    /// True if another entry has the link of this one and another headline. Such a link, as of a live page, identifies no story.
    /// - Parameter own: the keys of the entry itself.
    /// - Complexity: O(n)
    func sharesLink(of entry: EntryState, besides own: [EntryHash?]) -> Bool {
        entry.link != 0
            && rows.contains {
                $0.state.link == entry.link && $0.state.title != entry.title && $0.state.standing != .moved
                    && !own.contains($0.hash)
            }
    }

    private static func isTold(_ state: EntryState, near minute: UInt32) -> Bool {
        (state.standing == .sent || state.standing == .waiting)
            && max(state.firstSeen, minute) - min(state.firstSeen, minute) <= toldMinutes
    }

    /// Number of events written within the hour before `minute`, by the entries' own counts.
    func sent(inHourOf minute: UInt32) -> Int { rows.lazy.map { $0.state.versions(inHourOf: minute) }.reduce(0, +) }

    private static let toldMinutes: UInt32 = 10

    /// Grows by an eighth instead of a half, because most feeds soon reach their final size.
    private mutating func insert(_ row: Row, at index: Int) {
        if rows.count == rows.capacity { rows.reserveCapacity(rows.count + max(rows.count / 8, 8)) }
        rows.insert(row, at: index)
    }

    /// The index of `hash`, or the index at which it would be inserted.
    private func place(of hash: EntryHash) -> Int {
        var low = 0
        var high = rows.count
        while low < high {
            let middle = low + (high - low) / 2
            if rows[middle].hash < hash { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Returns the entries to forget: those not seen for 30 days and not among the `2 × documentLength` seen last, and
    /// those beyond `rowsMax`. Entries of the current document are never forgotten, nor those with events within the
    /// hour, because `sent(inHourOf:)` counts them.
    func forgettable(documentLength: Int, seen: Set<EntryHash>, at now: UInt32) -> [EntryHash] {
        let oldest = Minute.between(30 * 24 * 60, now)
        let keep = max(min(documentLength, Self.rowsMax / 2) * 2, 100)
        guard count > keep, count > Self.rowsMax || rows.contains(where: { $0.state.lastSeen < oldest }) else {
            return []
        }
        let byAge = rows.filter { !seen.contains($0.hash) && $0.state.versions(inHourOf: now) == 0 }
            .sorted { ($0.state.lastSeen, $0.hash) > ($1.state.lastSeen, $1.hash) }
        let kept = count - byAge.count
        return byAge.enumerated().filter { index, row in
            let rank = kept + index
            return rank >= Self.rowsMax || (rank >= keep && row.state.lastSeen < oldest)
        }.map(\.element.hash)
    }
}
