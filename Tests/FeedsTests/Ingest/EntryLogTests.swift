import NewsModel
import Testing

@testable import Feeds

extension EntryLog {
    /// Folds a record whose offset plays no part.
    @discardableResult
    mutating func fold(_ hash: EntryHash, _ record: EntryRecord?) -> Bool { fold(hash, record, at: 0) }

    /// The record that overwrites one that does not count. Its writer may have read any record.
    func record(of hash: EntryHash, writer: String) -> EntryRecord? { record(of: hash, writer: writer, after: nil) }
}

@Suite struct EntryLogTests {
    private static let hash = EntryHash("a")

    private static func record(_ text: String) -> EntryRecord? {
        if text == "gone" { return nil }
        let parts = text.split(separator: " ").map(String.init)
        var state = EntryState()
        state.version = parts[0]
        state.standing = parts[1] == "known" ? .known : .sent
        let intent = parts[1] == "known" || parts[1] == "done" ? nil : parts[1]
        return EntryRecord(
            state: state, intent: intent.map { Intent(lane: "live", key: "k", event: Array($0.utf8), order: 1) },
            writer: "w")
    }

    /// Records as `version state`. The state is `done`, `known`, or the text of an intended event.
    @Test(
        arguments: [
            (["1 X"], "1 X", false),
            (["1 X", "1 done"], "1 -", false),
            (["1 X", "1 X"], "1 X", false),
            (["1 X", "1 Y"], "1 X", true),
            (["1 X", "1 Y", "1 X"], "1 X", false),
            (["1 X", "1 done", "1 Y"], "1 -", true),
            (["1 X", "1 done", "1 Y", "1 done"], "1 -", false),
            (["1 X", "1 known"], "1 X", true),
            (["0 known", "1 X"], "1 X", false),
            (["1 X", "0 known"], "1 X", true),
            (["2 X", "1 Y"], "2 X", true),
            (["1 X", "2 Y"], "2 Y", false),
            (["1 X", "2 Y", "1 done"], "2 Y", true),
            (["9 X", "10 Y"], "10 Y", false),
            (["1 X", "1 Y", "gone"], "- -", false),
            (["gone", "1 X"], "1 X", false),
        ] as [([String], String, Bool)])
    func `the first record counts`(_ records: [String], _ end: String, _ isOverwritten: Bool) {
        var log = EntryLog()
        for text in records { log.fold(Self.hash, Self.record(text)) }
        let intent = log.intents[Self.hash].map { String(decoding: $0.event, as: UTF8.self) }
        #expect("\(log.table[Self.hash]?.version ?? "-") \(intent ?? "-")" == end)
        #expect(log.overwritten.contains(Self.hash) == isOverwritten)
        // A record that overwrites another one settles the entry.
        if isOverwritten {
            log.fold(Self.hash, log.record(of: Self.hash, writer: "w"))
            #expect(log.overwritten.isEmpty)
        }
    }

    /// Another owner has written the story under its other id while this process stood still. It may also have noted
    /// that this id is the same story.
    @Test(arguments: [10 as UInt32, 11], [false, true])
    func `a story that was written minutes ago under another id does not count`(minutes: UInt32, isNoted: Bool) throws {
        func record(_ text: String, at minute: UInt32) throws -> EntryRecord {
            var record = try #require(Self.record(text))
            (record.state.link, record.state.title, record.state.firstSeen) = (1, 2, minute)
            return record
        }
        let isTold = minutes <= 10
        var log = EntryLog()
        log.fold(EntryHash("other id"), try record("1 X", at: 100))
        if isNoted {
            var known = try record("0 done", at: 100)
            known.state.standing = .known
            log.fold(Self.hash, known)
        }
        #expect(log.fold(Self.hash, try record("1 X", at: 100 - minutes)) == !isTold)
        #expect(log.intents.keys.contains(Self.hash) == !isTold)
        #expect(log.overwritten.contains(Self.hash) == isTold)
        // Every reader then finds the entry settled.
        log.fold(Self.hash, log.record(of: Self.hash, writer: "w"))
        #expect(log.overwritten.isEmpty)
        guard isTold else { return }
        // So does a reader that no longer finds the other entry, because compaction has removed its records.
        var late = EntryLog()
        late.fold(Self.hash, try record("1 X", at: 100 - minutes))
        late.fold(Self.hash, log.record(of: Self.hash, writer: "w"))
        #expect(late.intents.isEmpty)
    }

    /// One process stood still with its alert in flight. In the meantime the publisher changed id and headline, and the
    /// next owner wrote the story at offset 5.
    @Test(
        arguments: [(after: 4, others: 0, isTold: true), (5, 0, false), (nil, 0, false), (4, 1, false)]
            as [(Int64?, UInt64, Bool)])
    func `a story whose writer had not read that it was sent under another id and headline does not count`(
        after: Int64?, others: UInt64, isTold: Bool
    ) throws {
        func record(link: UInt64, title: UInt64) throws -> EntryRecord {
            var record = try #require(Self.record("1 X"))
            (record.state.link, record.state.title) = (link, title)
            return record
        }
        var log = EntryLog()
        log.fold(EntryHash("new id"), try record(link: 1, title: 2), at: 5)
        // A link that several entries share identifies no story.
        for other in 0..<others { log.fold(EntryHash("\(other)"), try record(link: 1, title: 9 + other), at: 6) }
        var late = try record(link: 1, title: 3)
        (late.after, late.writer) = (after, "late")
        let counts = log.fold(Self.hash, late, at: 9)
        #expect(counts == !isTold)
        #expect(log.overwritten.contains(Self.hash) == isTold)
    }

    /// The publisher changed the id while two processes followed the feed. One decided on an alert under the old id.
    /// The other one noted the new id at offset 5 without an event, for example because of `maxPerPoll`.
    @Test(
        arguments: [EntryState.Standing.known, .unreadable, .held],
        [
            (after: 4, writer: "late", others: 0, isMoved: true), (5, "late", 0, false), (4, "w", 0, false),
            (4, "late", 1, false),
        ] as [(Int64, String, UInt64, Bool)])
    func `an alert moves the entry that its story has under another id if its writer did not know that entry`(
        standing: EntryState.Standing, alert: (after: Int64, writer: String, others: UInt64, isMoved: Bool)
    ) throws {
        let new = EntryHash("new id")
        func record(_ text: String, _ standing: EntryState.Standing) throws -> EntryRecord {
            var record = try #require(Self.record(text))
            (record.state.link, record.state.title, record.state.standing, record.after) = (1, 2, standing, 4)
            return record
        }
        for isHeldBack in [false, true] {
            var log = EntryLog()
            let silent = try record("0 done", standing)
            log.fold(new, silent, at: 5)
            for other in 0..<alert.others { log.fold(EntryHash("\(other)"), silent, at: 5) }
            var late = try record(isHeldBack ? "0 done" : "1 X", isHeldBack ? .waiting : .sent)
            (late.after, late.writer) = (alert.after, alert.writer)
            let counts = log.fold(Self.hash, late, at: 6)
            #expect(counts)
            #expect(log.table[new]?.standing == (alert.isMoved ? .moved : standing))
            #expect(log.overwritten.contains(new) == alert.isMoved)
            guard alert.isMoved else { continue }
            // A repetition whose writer has not read the alert changes nothing.
            let repeated = log.fold(new, silent, at: 7)
            #expect(!repeated && log.table[new]?.standing == .moved)
            log.fold(new, log.record(of: new, writer: "w", after: 7), at: 8)
            #expect(log.overwritten.isEmpty)
        }
    }

    /// Two processes followed the feed while the publisher changed the id. The alert of the first one, under the old id,
    /// is on the topic at offset 5.
    @Test(
        arguments: [EntryState.Standing.known, .unreadable, .held, .waiting],
        [(after: 4, writer: "late", counts: false), (5, "late", true), (4, "w", true)] as [(Int64, String, Bool)])
    func `a story's first record under another id does not count if its writer did not know the alert`(
        standing: EntryState.Standing, late: (after: Int64, writer: String, counts: Bool)
    ) throws {
        var log = EntryLog()
        var alert = try #require(Self.record("1 X"))
        alert.state.link = 1
        log.fold(EntryHash("old id"), alert, at: 5)
        var record = try #require(Self.record("0 done"))
        (record.state.link, record.state.standing, record.after, record.writer) = (1, standing, late.after, late.writer)
        let counts = log.fold(Self.hash, record, at: 6)
        #expect(counts == late.counts)
        #expect(log.table[Self.hash]?.standing == (late.counts ? standing : .moved))
        #expect(log.overwritten.contains(Self.hash) == !late.counts)
    }

    @Test func `two new stories with one link in one document are both sent`() throws {
        var log = EntryLog()
        for (id, title) in [("a", 2), ("b", 3)] as [(String, UInt64)] {
            var record = try #require(Self.record("1 \(id)"))
            (record.state.link, record.state.title, record.after) = (1, title, 4)
            log.fold(EntryHash(id), record, at: 5 + Int64(title))
        }
        #expect(log.intents.count == 2)
    }

    /// Two processes decide about an entry with the publisher's version 5. One alerts, at offset 5.
    @Test(arguments: [(after: 4, counts: false), (5, true), (nil, true)] as [(Int64?, Bool)])
    func `a record without an event does not undo an alert that its writer had not read`(
        after: Int64?, counts: Bool
    ) throws {
        var log = EntryLog()
        log.fold(Self.hash, Self.record("5 X"), at: 5)
        log.fold(Self.hash, Self.record("5 done"), at: 6)
        var late = try #require(Self.record("5 known"))
        late.after = after
        #expect(log.fold(Self.hash, late, at: 7) == counts)
        #expect(log.table[Self.hash]?.standing == (counts ? .known : .sent))
    }

    @Test func `an alert that is held back under a new id becomes an update once the former id was sent`() throws {
        let (old, new) = (EntryHash("old"), EntryHash("new"))
        var log = EntryLog()
        var waiting = try #require(Self.record("0 done"))
        waiting.state.standing = .waiting
        waiting.state.headlinePrint = 2
        waiting.name = EventName(id: "wire:old", origin: old)
        waiting.heldBack = HeldBack(
            intent: Intent(lane: "live", key: "k", event: [1], order: 0), version: "1", due: 0, staleAt: 9)
        log.fold(new, waiting)
        var sent = try #require(Self.record("1 X"))
        sent.state.headlinePrint = 1
        sent.name = EventName(id: "wire:old", origin: nil)
        let counts = log.fold(old, sent)
        #expect(counts)
        let state = try #require(log.table[new])
        #expect(state.standing == .sent && state.version == "1" && state.headlinePrint == 1)
        #expect(log.heldBack.isEmpty && log.overwritten == [new])
        log.fold(new, log.record(of: new, writer: "w"))
        #expect(log.overwritten.isEmpty && log.table[new] == state)
    }

    /// Another process continues the entry under a new id since offset 5.
    @Test(arguments: [(after: 4, counts: false), (5, true), (nil, true)] as [(Int64?, Bool)])
    func `a record whose writer had not read that another entry continues its own does not count`(
        after: Int64?, counts: Bool
    ) throws {
        var log = EntryLog()
        log.fold(Self.hash, Self.record("1 done"), at: 1)
        var moved = try #require(Self.record("1 done"))
        moved.state.standing = .moved
        log.fold(Self.hash, moved, at: 5)
        var late = try #require(Self.record("1 done"))
        late.after = after
        #expect(log.fold(Self.hash, late, at: 9) == counts)
        #expect(log.table[Self.hash]?.standing == (counts ? .sent : .moved))
        #expect(log.overwritten.contains(Self.hash) == !counts)
    }

    /// Two processes hold back different texts of a story under its two ids. Both would be its version 2.
    @Test func `a text that is held back becomes an update once another one was sent as its version`() throws {
        let (old, new) = (EntryHash("old"), EntryHash("new"))
        func record(_ text: String, _ origin: EntryHash?) throws -> EntryRecord {
            var record = try #require(Self.record(text))
            record.name = EventName(id: "wire:old", origin: origin)
            return record
        }
        var log = EntryLog()
        log.fold(old, try record("1 done", nil))
        var held = try record("1 done", old)
        held.state.headlinePrint = 2
        held.heldBack = HeldBack(
            intent: Intent(lane: "live", key: "k", event: [1], order: 0), version: "2", due: 0, staleAt: 9)
        log.fold(new, held)
        #expect(log.heldBack.count == 1)
        var sent = try record("2 X", nil)
        sent.state.headlinePrint = 1
        let counts = log.fold(old, sent)
        #expect(counts && log.heldBack.isEmpty && log.overwritten == [new])
        let state = try #require(log.table[new])
        #expect(state.version == "2" && state.headlinePrint == 1, "its own text differs from what readers have")
        let own = log.fold(new, try record("2 Y", old))
        #expect(!own)
    }

    @Test func `a version that was written under one id of a story is not written under the other`() throws {
        let (old, new) = (EntryHash("old"), EntryHash("new"))
        func record(_ text: String, _ origin: EntryHash?) throws -> EntryRecord {
            var record = try #require(Self.record(text))
            record.name = EventName(id: "wire:old", origin: origin)
            return record
        }
        var log = EntryLog()
        log.fold(old, try record("1 done", nil))
        log.fold(new, try record("1 done", old))
        #expect(log.fold(new, try record("2 X", old)))
        #expect(!log.fold(old, try record("2 Y", nil)))
        #expect(log.intents[old] == nil)
        // A third id whose version is overtaken belongs to the same story.
        let third = EntryHash("third")
        #expect(!log.fold(third, try record("2 Z", old)))
        #expect(log.table[third]?.standing == .moved)
        #expect(log.fold(old, try record("3 Y", nil)))
        // A record that overwrites another one settles the entry, because otherwise its owner would write it forever.
        for hash in [old, new, third] {
            log.spoiled(hash, at: 0)
            log.fold(hash, log.record(of: hash, writer: "w"))
            #expect(log.overwritten.isDisjoint(with: [hash]))
        }
    }

    /// One process continues an entry under a new id. Another process, which had read less, continues it too, and
    /// overwrites the records that do not count.
    @Test func `records of a process that had not read the last change of an entry do not end that change`() throws {
        let (old, new) = (EntryHash("old"), EntryHash("new"))
        func record(_ text: String, after: Int64, former: EntryHash? = nil) throws -> EntryRecord {
            var record = try #require(Self.record(text))
            record.name = EventName(id: "wire:old", origin: former)
            record.after = after
            record.former = former
            return record
        }
        var log = EntryLog()
        log.fold(old, try record("1 X", after: 0), at: 1)
        log.fold(old, try record("2 X", after: 1), at: 2)
        let isFirst = log.fold(new, try record("2 Y", after: 1, former: old), at: 3)
        #expect(!isFirst)
        #expect(log.overwritten == [new])
        let outdated = [old, new].map { ($0, log.record(of: $0, writer: "w", after: 3)) }
        log.fold(new, try record("3 Z", after: 3, former: old), at: 4)
        #expect(log.table[old]?.standing == .moved)
        for (hash, record) in outdated {
            let counts = log.fold(hash, record, at: 5)
            #expect(!counts)
        }
        #expect(log.table[new]?.standing == .sent && log.intents[new] != nil)
        #expect(log.table[old]?.standing == .moved)
        #expect(log.overwritten == [old, new])
    }

    /// Two logs of one story, up to offset 5. At offset 3, a process continues `old` as `new`. A second process has not read
    /// that, and its next version of `old` at offset 4 does not count. The other log is read after compaction, which has
    /// removed the record at offset 3, because `new` has a later one.
    private static func continuedStory() throws -> (log: EntryLog, compacted: EntryLog) {
        func record(_ text: String, after: Int64, origin: EntryHash? = nil) throws -> EntryRecord {
            var record = try #require(Self.record(text))
            (record.name, record.after) = (EventName(id: "wire:old", origin: origin), after)
            return record
        }
        let old = EntryHash("old")
        let new = EntryHash("new")
        var log = EntryLog()
        log.fold(old, try record("2 done", after: 1), at: 2)
        var move = try record("3 X", after: 2, origin: old)
        move.former = old
        log.fold(new, move, at: 3)
        var compacted = EntryLog()
        for (hash, record) in [(old, try record("3 Y", after: 2)), (new, try record("3 done", after: 3, origin: old))] {
            let offset: Int64 = hash == old ? 4 : 5
            log.fold(hash, record, at: offset)
            compacted.fold(hash, record, at: offset)
        }
        return (log, compacted)
    }

    @Test(arguments: [(after: 5, counts: true), (3, false), (nil, false)] as [(Int64?, Bool)])
    func `a moved entry ends a later intent that its writer had read, although compaction has removed the move`(
        after: Int64?, counts: Bool
    ) throws {
        let old = EntryHash("old")
        var (log, compacted) = try Self.continuedStory()
        #expect(log.intents.isEmpty && log.overwritten == [old])
        #expect(compacted.intents.keys.contains(old), "nothing shows that the intent does not count")
        let moved = log.record(of: old, writer: "w", after: after)
        log.fold(old, moved, at: 6)
        #expect(compacted.fold(old, moved, at: 6) == counts)
        #expect(compacted.intents.isEmpty == counts)
        guard counts else { return }
        #expect(compacted.table == log.table)
        #expect(compacted.overwritten.isEmpty && log.overwritten.isEmpty)
    }

    /// The writer of the record at offset 6 had read the move, but not the version that does not count.
    @Test func `a record that does not count is overwritten only by a writer that had read it`() throws {
        let old = EntryHash("old")
        var (log, compacted) = try Self.continuedStory()
        let unaware = log.record(of: old, writer: "w", after: 3)
        log.fold(old, unaware, at: 6)
        #expect(log.overwritten == [old])
        let aware = log.record(of: old, writer: "w", after: 6)
        log.fold(old, aware, at: 7)
        #expect(log.overwritten.isEmpty)
        compacted.fold(old, unaware, at: 6)
        compacted.fold(old, aware, at: 7)
        #expect(compacted.intents.isEmpty && compacted.overwritten.isEmpty)
        #expect(compacted.table == log.table)
    }

    /// A record without an event says that an entry continues `old`. In the meantime, another entry continues it, or it
    /// was sent.
    @Test(arguments: [(after: 2, isSent: false), (1, false), (2, true), (1, true)] as [(Int64, Bool)])
    func `a new id does not count if its writer had not read what became of the former one`(
        after: Int64, isSent: Bool
    ) throws {
        let (old, new, third) = (EntryHash("old"), EntryHash("new"), EntryHash("third"))
        func continuing(_ text: String, after: Int64) throws -> EntryRecord {
            var record = try #require(Self.record(text))
            record.name = isSent ? nil : EventName(id: "wire:old", origin: old)
            (record.after, record.former) = (after, old)
            return record
        }
        var log = EntryLog()
        log.fold(old, Self.record(isSent ? "0 known" : "1 done"), at: 1)
        if isSent {
            log.fold(old, Self.record("1 X"), at: 2)
        } else {
            log.fold(new, try continuing("1 done", after: 1), at: 2)
        }
        let counts = log.fold(third, try continuing(isSent ? "0 known" : "1 done", after: after), at: 3)
        #expect(counts == (after == 2))
        #expect(log.table[third]?.standing == (!counts ? .moved : isSent ? .known : .sent))
    }

    /// A retry of the record that continues an entry arrives after that entry was moved, and compaction has removed the
    /// first try.
    @Test func `a retry counts if no other entry continues the former one`() throws {
        let (old, new) = (EntryHash("old"), EntryHash("new"))
        var log = EntryLog()
        var moved = try #require(Self.record("1 done"))
        moved.state.standing = .moved
        log.fold(old, moved, at: 5)
        var retry = try #require(Self.record("1 done"))
        (retry.name, retry.after, retry.former) = (EventName(id: "wire:old", origin: old), 4, old)
        let counts = log.fold(new, retry, at: 6)
        #expect(counts)
        #expect(log.table[new]?.standing == .sent)
    }

    @Test func `event names are bounded, and those of continued stories are kept longest`() throws {
        var log = EntryLog()
        for number in 0..<1_000 {
            var record = try #require(Self.record("1 done"))
            record.state.firstSeen = UInt32(number)
            record.name = EventName(id: "wire:\(number)", origin: number == 3 ? EntryHash("x") : nil)
            log.fold(EntryHash("\(number)"), record)
        }
        #expect(log.names.count < EntryLog.namesMax * 3 / 2)
        #expect(log.names[EntryHash("999")] != nil && log.names[EntryHash("3")] != nil)
        #expect(log.names[EntryHash("4")] == nil)
    }

    /// The entry is unknown, or another process has stored it with this standing.
    @Test(
        arguments: [nil, .known, .unreadable, .held, .sent] as [EntryState.Standing?],
        [(isFirst: true, isComplete: true), (false, true), (true, false)])
    func `a record of a first reading decides nothing after a complete first reading`(
        standing: EntryState.Standing?, reading: (isFirst: Bool, isComplete: Bool)
    ) throws {
        var log = EntryLog()
        var feed = FeedState()
        feed.primedAt = FollowedFeed.start
        feed.isHalfPrimed = !reading.isComplete
        log.fold(feed)
        var record = try #require(Self.record("0 known"))
        if let standing {
            record.state.standing = standing
            log.fold(Self.hash, record)
            record.state.standing = .known
        }
        let before = log.table[Self.hash]
        record.isOfFirstReading = reading.isFirst
        let isVoid = reading.isFirst && reading.isComplete && standing != .known
        #expect(log.fold(Self.hash, record) == !isVoid)
        #expect(log.table[Self.hash] == (isVoid ? before : record.state))
        #expect(log.overwritten.contains(Self.hash) == (isVoid && standing != nil))
    }

    @Test func `an unreadable record is overwritten only if its entry is known`() {
        var log = EntryLog()
        log.spoiled(Self.hash, at: 0)
        #expect(log.overwritten.isEmpty)
        log.fold(Self.hash, Self.record("1 X"))
        log.spoiled(Self.hash, at: 0)
        #expect(log.overwritten == [Self.hash])
    }

    // MARK: - Records

    /// An object is valid only as long as its bytes and its parser exist.
    private func reading<Value>(_ text: some Sequence<UInt8>, _ read: (JSONObject) -> Value) throws -> Value {
        let parser = JSONParser()
        return try withExtendedLifetime(parser) {
            try Array(text).withUnsafeBufferPointer { read(try parser.object(in: $0)) }
        }
    }

    @Test func `a record of an entry is read back unchanged`() throws {
        var record = try #require(Self.record("7 X"))
        record.state.headlinePrint = .max
        record.state.bodyPrint = 1
        record.state.past.leave(.max, at: 1)
        record.state.past.leave(2, at: .max)
        record.state.link = 0x8000_0000_0000_0000
        record.state.title = 3
        record.state.expiry = 4
        record.state.embargo = Minute.never
        record.state.firstSeen = 5
        record.state.lastSeen = 6
        record.state.hourBegan = 7
        record.state.versionsThisHour = 255
        record.state.standing = .heldAfterSent
        record.state.sentPrint = .max
        record.state.returnedAt = 8
        record.intent?.event = Array(#"{"id":"é \" \\ 🗞"}"#.utf8)
        record.name = EventName(id: "wire:é", origin: EntryHash("b"))
        record.after = .max
        record.former = EntryHash("c")
        record.isOfFirstReading = true
        record.heldBack = HeldBack(
            intent: Intent(lane: "live", key: "k", event: Array("{}".utf8), order: 0), version: "8", due: 9,
            staleAt: Minute.never)
        #expect(try reading(record.bytes) { EntryRecord($0) } == record)
    }

    @Test(arguments: [false, true])
    func `a feed whose first reading may be incomplete stays so for the next process`(isHalfPrimed: Bool) throws {
        var state = FeedState()
        state.primedAt = Instant(milliseconds: 60_000)
        state.isHalfPrimed = isHalfPrimed
        #expect(try reading(state.bytes(writer: "w")) { FeedState($0) } == state)
    }

    @Test(
        arguments: [
            "{}", #"{"version":1}"#, #"{"version":"1","standing":7,"headline":"zz","past":[1,2]}"#,
            #"{"version":"1","past":[-1,99999999999,"a",null,1,2,3],"expiry":-5,"versionsThisHour":-1}"#,
            #"{"version":"1","intent":{"lane":1}}"#, #"{"version":"1","intent":[]}"#,
            #"{"url":5,"primedAt":"yesterday","failures":-3,"interval":-1,"medianGap":99999999999,"move":{},"webSub":7}"#,
        ])
    func `a record that another version or a person wrote stops nothing`(_ text: String) throws {
        let (record, state) = try reading(text.utf8) { (EntryRecord($0), FeedState($0)) }
        #expect(record?.intent == nil)
        #expect(state.failures == 0 && state.interval == nil && state.medianGap == nil && !state.isPrimed)
    }
}
