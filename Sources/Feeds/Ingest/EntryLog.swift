import NewsModel

/// The entries of one feed, as the state topic describes them.
///
/// Every process that reads the partition folds the same records in the same order by the same rule. Two processes that
/// briefly own it both therefore agree which record counts: the first one on the topic.
struct EntryLog: Sendable, Hashable {
    private(set) var table = EntryTable()
    /// Intents on the topic that no later record has closed.
    private(set) var intents: [EntryHash: Intent] = [:]
    /// The offset of the last record with each of `intents`.
    private var intentOffsets: [EntryHash: Int64] = [:]
    /// Events held back by a limit.
    private(set) var heldBack: [EntryHash: HeldBack] = [:]
    /// Event names. Trimming prefers entries that continue another entry, then those that changed last.
    private(set) var names: [EntryHash: EventName] = [:]
    /// The lanes to which alerts went. Entries have their places, because a process may keep a million entries.
    private var lanes: [String] = []
    /// The first records with recent alerts, whether these are sent or held back, the records by which other entries
    /// continue an entry, and those by which it came back.
    private var changes = RecentRecords()
    /// The records by which alerts that a limit had held back were sent.
    private var releases = RecentRecords()
    /// The first records of entries of which nothing was written.
    private var unwritten = RecentRecords()
    /// Entries whose last record is not their state, because it does not count, or because the record of another entry
    /// moved them. The owner overwrites it, because compaction keeps only that record.
    var overwritten: Set<EntryHash> { Set(misleading.keys) }
    /// The offsets of the records to be overwritten. A record overwrites one of them only if its writer had read that one.
    /// Otherwise it may not count for a reader that finds both, but not the earlier records that compaction has removed.
    private var misleading: [EntryHash: Int64] = [:]
    /// Offset of the first record of the feed that says that its first reading is complete.
    private var firstReadingAt: Int64?
    /// True once a record of the feed says that its first reading is complete.
    var hasFirstReading: Bool { firstReadingAt != nil }

    /// Number of names that trimming leaves. An entry without a name cannot be continued under another id.
    static let namesMax = 64

    /// Folds the feed's own record into the log.
    mutating func fold(_ feed: FeedState, at offset: Int64) {
        if feed.isPrimed, !feed.isHalfPrimed { firstReadingAt = firstReadingAt ?? offset }
    }

    /// Lets another first reading count, because entries of the former one are lost.
    mutating func forgetFirstReading() { firstReadingAt = nil }

    /// Folds the next record of an entry into the log.
    /// - Parameters:
    ///   - record: `nil` for a tombstone.
    ///   - offset: the record's own.
    /// - Returns: false if the record does not count, because an earlier record takes precedence.
    @discardableResult
    mutating func fold(_ hash: EntryHash, _ record: EntryRecord?, at offset: Int64) -> Bool {
        guard var record else {
            table[hash] = nil
            keep(nil, of: hash, at: offset)
            heldBack[hash] = nil
            names[hash] = nil
            changes.forget(hash)
            releases.forget(hash)
            unwritten.forget(hash)
            misleading[hash] = nil
            return true
        }
        record.state.lanePlace = place(ofLane: record.lane)
        let before = table[hash]
        if repeatsFirstReading(record, after: before) {
            // An unknown entry stays unknown, so that the next reading decides about it. No tombstone overwrites the record,
            // because it could delete what another process has stored in the meantime.
            if before != nil { misleading[hash] = offset }
            return false
        }
        let isTold = isTold(record, as: hash)
        guard !isTold, counts(record, of: hash, after: before), !isOvertaken(record, of: hash),
            !isOutdated(record, of: hash)
        else {
            if isTold || before == nil {
                // The story is known under another id. The version is that of the record, so that the record which
                // replaces it settles an intent even after compaction has removed the other entry's records.
                var state = before ?? record.state
                state.leave(at: state.lastSeen)
                state.version = record.state.version
                table[hash] = state
                changes.note(hash, at: offset, by: record.writer)
            }
            misleading[hash] = offset
            return false
        }
        if record.after ?? .max >= misleading[hash] ?? .min { misleading[hash] = nil }
        if let intent = record.intent {
            keep(intent, of: hash, at: offset)
        } else if record.state.standing.wasSent || record.state.standing == .moved {
            keep(nil, of: hash, at: offset)
        }
        table[hash] = record.state
        heldBack[hash] = record.heldBack
        // A moved entry has no name, because the entry that continues it has the name.
        keep(record.state.standing == .moved ? nil : record.name, of: hash)
        if record.state.standing.wasSent { settleAlerts(of: record, hash, at: offset) }
        let isMoved = record.state.standing == .moved
        let wasMoved = before?.standing == .moved
        if wasMoved != isMoved { changes.forget(hash) }
        if wasMoved || isMoved || record.intent != nil || record.state.standing == .waiting {
            changes.note(hash, at: offset, by: record.writer)
        }
        if before?.standing == .waiting, record.state.standing.wasSent {
            releases.note(hash, at: offset, by: record.writer)
        }
        if let former = record.former, former != hash { leave(former, for: record, at: offset) }
        if before == nil, record.state.standing.isSilent { unwritten.note(hash, at: offset, by: record.writer) }
        if before?.standing.isUnwritten ?? true, let silent = silentEntry(of: record, hash) {
            leave(silent, for: record, at: offset)
        }
        return true
    }

    /// The lane to which the entry's last alert went; `nil` if it is not known.
    func lane(of state: EntryState) -> String? {
        let index = Int(state.lanePlace) - 1
        return lanes.indices.contains(index) ? lanes[index] : nil
    }

    /// The place of a lane in `lanes`, from 1. Beyond `lanesMax` lanes, which only changes of the settings can bring, there is none.
    private mutating func place(ofLane lane: String?) -> UInt8 {
        guard let lane else { return 0 }
        if let index = lanes.firstIndex(of: lane) { return UInt8(clamping: index + 1) }
        guard lanes.count < Self.lanesMax else { return 0 }
        lanes.append(lane)
        return UInt8(clamping: lanes.count)
    }

    private static let lanesMax = 100

    /// Returns true if the record comes from a second first reading, whose writer did not know the first one. It would
    /// turn news that only the second one found into backlog, and a backlog entry that was withheld by then into news
    /// as soon as it is free.
    private func repeatsFirstReading(_ record: EntryRecord, after old: EntryState?) -> Bool {
        guard record.isOfFirstReading, record.intent == nil || record.state.standing != .sent else { return false }
        if old?.standing == .known { return record.state.standing != .known }
        // A writer that knew the former reading has found that its entries are lost.
        return firstReadingAt.map { record.after ?? .min < $0 } ?? false
    }

    /// Marks an entry as moved, because the record at `offset` has its story under another id. The feed's owner stores
    /// this.
    private mutating func leave(_ former: EntryHash, for record: EntryRecord, at offset: Int64) {
        guard var state = table[former], state.standing != .moved else { return }
        state.leave(at: record.state.lastSeen)
        table[former] = state
        keep(nil, of: former, at: offset)
        heldBack[former] = nil
        names[former] = nil
        changes.forget(former)
        changes.note(former, at: offset, by: record.writer)
        misleading[former] = offset
    }

    /// Returns the entry with the same link of which nothing was written, if `record` is an alert whose writer did not
    /// know it. The publisher changed the id while two processes followed the feed. Once the silent entry is moved, the
    /// next reading continues the alert under the id that the document has. Otherwise, no later text would be sent.
    private func silentEntry(of record: EntryRecord, _ hash: EntryHash) -> EntryHash? {
        guard record.isAlert, record.former == nil, record.name?.origin == nil,
            let other = table.only(at: record.state.link, besides: hash), table[other]?.standing.isSilent ?? false,
            unwritten.isUnknown(other, toWriterOf: record)
        else { return nil }
        return other
    }

    /// Returns true if the writer of the record did not know the entry's present state, and the record contradicts it:
    /// the entry has moved or come back, or is to be written although the record says that it is not.
    private func isOutdated(_ record: EntryRecord, of hash: EntryHash) -> Bool {
        guard let old = table[hash] else { return false }
        let hasMoved = (old.standing == .moved) != (record.state.standing == .moved)
        let isNews = old.standing.isNamed && record.state.standing.isSilent
        return (hasMoved || isNews) && changes.follows(hash, readingOf: record)
    }

    /// Drops events held back under other ids of an entry that was sent, because a paused process sent it under its former
    /// id. The next reading of the feed finds the present text as an update.
    private mutating func settleAlerts(of record: EntryRecord, _ hash: EntryHash, at offset: Int64) {
        let origin = record.name?.origin ?? hash
        for (relative, name) in names where relative != hash && (name.origin == origin || relative == origin) {
            guard let waiting = table[relative], waiting.standing == .waiting || heldBack[relative] != nil,
                NewsEvent.Version(waiting.version) < NewsEvent.Version(record.state.version)
            else { continue }
            var state = record.state
            (state.firstSeen, state.lastSeen, state.versionsThisHour) = (waiting.firstSeen, waiting.lastSeen, 0)
            table[relative] = state
            heldBack[relative] = nil
            misleading[relative] = offset
        }
    }

    /// Returns true if the record is the first of a story that was sent, or is held back, under another id with the same
    /// link, and its writer did not know that one. Otherwise, it would continue the other entry. An alert is also
    /// published already if a story with the same headline was sent minutes ago.
    private func isTold(_ record: EntryRecord, as hash: EntryHash) -> Bool {
        guard record.name?.origin == nil else { return false }
        let isSent = record.state.standing == .sent && record.intent != nil
        if isSent {
            guard table[hash]?.standing.isUnwritten ?? true else { return false }
            if let story = record.state.linkAndTitle, table.told(near: record.state.firstSeen).contains(story) {
                return true
            }
        } else {
            let isSilent = record.intent == nil && record.state.standing.isSilent
            guard table[hash] == nil, record.former == nil, isSilent || record.isAlert,
                changes.haveGrown(sinceReadingOf: record)
            else { return false }
        }
        guard let other = table.only(at: record.state.link, besides: hash) else { return false }
        return (isSent || table[other]?.standing.isNamed ?? false) && changes.isUnknown(other, toWriterOf: record)
    }

    /// Returns true if another id of the entry has overtaken the record. A version is written once, under whichever id.
    private func isOvertaken(_ record: EntryRecord, of hash: EntryHash) -> Bool {
        // A moved entry, and a record without intent that continues no other entry, cannot repeat an event.
        if record.state.standing == .moved { return false }
        if record.intent == nil, record.name?.origin == nil, record.former == nil { return false }
        // A repetition of the record that counts is accepted, because it overwrites a record that does not count.
        if let old = table[hash], old.version == record.state.version,
            record.intent == nil || record.intent?.event == intents[hash]?.event
        {
            return false
        }
        let origin = record.name?.origin ?? hash
        var relatives = names.filter { $0.value.origin == origin && $0.key != hash }.map(\.key)
        if let former = record.former,
            changes.follows(former, readingOf: record) || releases.follows(former, readingOf: record),
            table[former]?.standing != .moved || !relatives.isEmpty
        {
            return true
        }
        if origin != hash { relatives.append(origin) }
        let version = NewsEvent.Version(record.state.version)
        return relatives.contains { relative in
            guard let other = table[relative].map({ NewsEvent.Version($0.version) }) else { return false }
            return record.intent == nil ? version < other : !(other < version)
        }
    }

    private mutating func keep(_ intent: Intent?, of hash: EntryHash, at offset: Int64) {
        intents[hash] = intent
        intentOffsets[hash] = intent == nil ? nil : offset
    }

    private mutating func keep(_ name: EventName?, of hash: EntryHash) {
        names[hash] = name
        guard names.count >= Self.namesMax * 3 / 2 else { return }
        // Entries whose ids do not follow from their keys come first, then the newest entries.
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

    private func counts(_ record: EntryRecord, of hash: EntryHash, after old: EntryState?) -> Bool {
        guard let old else { return true }
        let (before, now) = (NewsEvent.Version(old.version), NewsEvent.Version(record.state.version))
        if now < before { return overwritesIntent(record, of: hash) }
        let pending = intents[hash]
        if let intent = record.intent {
            // The same version is the same event written again, or another owner's event that comes too late.
            return before < now || pending?.event == intent.event
        }
        // While an event waits to be written, only a record that closes it may follow at the same version.
        return before < now || pending == nil || record.state.standing.wasSent || record.state.standing == .moved
    }

    /// Returns true if the record says that the entry was moved, and its writer had read the entry's pending intent.
    ///
    /// That intent does not count, although its version is later than that of the record. The writer knew of an earlier
    /// record that moved the entry, which compaction has removed. If the intent were published, its version could have a
    /// second content, because the entry that continues this one has written the same version.
    private func overwritesIntent(_ record: EntryRecord, of hash: EntryHash) -> Bool {
        guard record.state.standing == .moved, let after = record.after, let offset = intentOffsets[hash] else {
            return false
        }
        return offset <= after
    }

    /// The record that overwrites one that does not count; `nil` if no record of the entry counts.
    func record(of hash: EntryHash, writer: String, after: Int64?) -> EntryRecord? {
        table[hash].map {
            EntryRecord(
                state: $0, intent: intents[hash], heldBack: heldBack[hash], name: names[hash], lane: lane(of: $0),
                writer: writer, after: after)
        }
    }

    /// Marks all entries to be overwritten, because their records were removed from the topic.
    mutating func overwriteAll(readTo: Int64) {
        for row in table.rows { misleading[row.hash] = readTo }
    }

    /// Marks the entry to be overwritten, because its last record is unreadable.
    mutating func spoiled(_ hash: EntryHash, at offset: Int64) {
        if table[hash] != nil { misleading[hash] = offset }
    }
}
