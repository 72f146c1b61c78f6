import NewsModel

/// What the state topic says about the entries of one feed.
///
/// Every process that reads the partition folds the same records in the same order by the same rule, so two that own it for
/// a moment agree on whose version counts: that of the record which stands first.
struct EntryLog: Sendable, Hashable {
    private(set) var table = EntryTable()
    /// Events that are not written yet, as far as the topic says.
    private(set) var intents: [EntryHash: Intent] = [:]
    /// Entries whose last record does not count. Compaction would keep just that one, so it has to be written over.
    private(set) var overwritten: Set<EntryHash> = []

    /// Takes the next record of the partition.
    /// - Parameter record: `nil` for a tombstone.
    /// - Returns: false if the record does not count, because one of the same or a higher version stands before it.
    @discardableResult
    mutating func fold(_ hash: EntryHash, _ record: EntryRecord?) -> Bool {
        guard let record else {
            table[hash] = nil
            intents[hash] = nil
            overwritten.remove(hash)
            return true
        }
        let before = table[hash]
        if before?.standing ?? .known == .known, record.intent != nil, record.state.standing == .sent,
            let story = record.state.linkAndTitle, table.told(near: record.state.firstSeen).contains(story)
        {
            // Another owner has told the story under its other id already: known, and not to be written.
            var state = before ?? record.state
            state.standing = .known
            table[hash] = state
            overwritten.insert(hash)
            return false
        }
        guard counts(record, after: table[hash], pending: intents[hash]) else {
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
        return true
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

    /// The record to write over one that does not count.
    func record(of hash: EntryHash, writer: String) -> EntryRecord? {
        table[hash].map { EntryRecord(state: $0, intent: intents[hash], writer: writer) }
    }

    /// Marks an unreadable record to be written over.
    mutating func spoiled(_ hash: EntryHash) {
        if table[hash] != nil { overwritten.insert(hash) }
    }
}
