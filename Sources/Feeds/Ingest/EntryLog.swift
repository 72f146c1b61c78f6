import NewsModel

/// What the state topic says about the entries of one feed.
///
/// Every process that reads the partition folds the same records in the same order by the same rule, so two that own it for
/// a moment agree on whose version counts: that of the record which stands first.
struct EntryLog: Sendable, Hashable {
    private(set) var table = EntryTable()
    /// Events that are not written yet, as far as the topic says.
    private(set) var intents: [EntryHash: Intent] = [:]
    /// Events that limits hold back.
    private(set) var heldBack: [EntryHash: HeldBack] = [:]
    /// The event ids of the entries that were written most recently, and of all that continue another entry.
    private(set) var names: [EntryHash: EventName] = [:]
    /// Entries whose last record does not count. Compaction would keep just that one, so it has to be written over.
    private(set) var overwritten: Set<EntryHash> = []

    /// Names kept for one feed. An entry without one cannot be continued under another id.
    static let namesMax = 64

    /// Takes the next record of the partition.
    /// - Parameter record: `nil` for a tombstone.
    /// - Returns: false if the record does not count, because one of the same or a higher version stands before it.
    @discardableResult
    mutating func fold(_ hash: EntryHash, _ record: EntryRecord?) -> Bool {
        guard let record else {
            table[hash] = nil
            intents[hash] = nil
            heldBack[hash] = nil
            names[hash] = nil
            overwritten.remove(hash)
            return true
        }
        let before = table[hash]
        if before?.standing ?? .known == .known, record.intent != nil, record.state.standing == .sent,
            record.name?.origin == nil, isTold(record.state, as: hash)
        {
            // Another owner has told the story under its other id already: known, and not to be written.
            var state = before ?? record.state
            state.standing = .known
            table[hash] = state
            overwritten.insert(hash)
            return false
        }
        guard counts(record, after: table[hash], pending: intents[hash]), !isOvertaken(record, of: hash) else {
            overwritten.insert(hash)
            return false
        }
        overwritten.remove(hash)
        if let intent = record.intent {
            intents[hash] = intent
        } else if record.state.standing.wasSent {
            intents[hash] = nil
        }
        table[hash] = record.state
        heldBack[hash] = record.heldBack
        // The entry that continues it has the name.
        keep(record.state.standing == .moved ? nil : record.name, of: hash)
        if record.state.standing.wasSent { settleAlerts(of: record, hash) }
        return true
    }

    /// Ends alerts that limits hold back under other ids of an entry that was sent: a process that had stood still sent it
    /// under its former id. The text that the entry has by now is an update, which the next reading of the feed finds.
    private mutating func settleAlerts(of record: EntryRecord, _ hash: EntryHash) {
        let origin = record.name?.origin ?? hash
        for (relative, name) in names where relative != hash && (name.origin == origin || relative == origin) {
            guard let waiting = table[relative], waiting.standing == .waiting,
                NewsEvent.Version(waiting.version) < NewsEvent.Version(record.state.version)
            else { continue }
            var state = record.state
            (state.firstSeen, state.lastSeen, state.versionsThisHour) = (waiting.firstSeen, waiting.lastSeen, 0)
            table[relative] = state
            heldBack[relative] = nil
            overwritten.insert(relative)
        }
    }

    /// True when the story was written under another id while the record was on its way: one of the same link and headline,
    /// or one of the same link that was found later.
    private func isTold(_ state: EntryState, as hash: EntryHash) -> Bool {
        if let story = state.linkAndTitle, table.told(near: state.firstSeen).contains(story) { return true }
        return table.toldLater(than: state, besides: hash)
    }

    /// True when the story has gone on under another id of the entry: a version is written once, whatever the id.
    private func isOvertaken(_ record: EntryRecord, of hash: EntryHash) -> Bool {
        // Whatever writes no event under a name of its own can repeat none.
        if record.state.standing == .moved || (record.intent == nil && record.name?.origin == nil) { return false }
        // What says again what counts already settles a record that does not count.
        if let old = table[hash], old.version == record.state.version,
            record.intent == nil || record.intent?.event == intents[hash]?.event
        {
            return false
        }
        let origin = record.name?.origin ?? hash
        var relatives = names.filter { $0.value.origin == origin && $0.key != hash }.map(\.key)
        if origin != hash { relatives.append(origin) }
        let version = NewsEvent.Version(record.state.version)
        return relatives.contains { relative in
            guard let other = table[relative].map({ NewsEvent.Version($0.version) }) else { return false }
            return record.intent == nil ? version < other : !(other < version)
        }
    }

    private mutating func keep(_ name: EventName?, of hash: EntryHash) {
        names[hash] = name
        guard names.count >= Self.namesMax * 3 / 2 else { return }
        // The newest entries, and before them those whose ids cannot be told from their keys.
        let newest = names.keys.sorted { first, second in
            let (one, other) = (names[first]?.origin != nil, names[second]?.origin != nil)
            let (age, otherAge) = (lastChange(of: first), lastChange(of: second))
            return one == other ? (age, first) > (otherAge, second) : one
        }
        for hash in newest.dropFirst(Self.namesMax) { names[hash] = nil }
    }

    private func lastChange(of hash: EntryHash) -> UInt32 {
        table[hash].map { max($0.firstSeen, $0.lastSeen) } ?? 0
    }

    private func counts(_ record: EntryRecord, after old: EntryState?, pending: Intent?) -> Bool {
        guard let old else { return true }
        let (before, now) = (NewsEvent.Version(old.version), NewsEvent.Version(record.state.version))
        if now < before { return false }
        if let intent = record.intent {
            // The same version is the same event written again, or another owner's, which comes too late.
            return before < now || pending?.event == intent.event
        }
        // While an event waits to be written, only "done" may follow at its version.
        return before < now || pending == nil || record.state.standing.wasSent
    }

    /// The record to write over one that does not count; `nil` if nothing of the entry counts.
    func record(of hash: EntryHash, writer: String) -> EntryRecord? {
        table[hash].map {
            EntryRecord(
                state: $0, intent: intents[hash], heldBack: heldBack[hash], name: names[hash], writer: writer)
        }
    }

    /// Marks an unreadable record to be written over.
    mutating func spoiled(_ hash: EntryHash) {
        if table[hash] != nil { overwritten.insert(hash) }
    }
}
