import Testing

@testable import Feeds

/// Entries that continue another one under a new id and keep its name.
@Suite struct EntryLogMoveTests: EntryLogSuite {
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

    /// The writer knew the alert as one that a limit holds back.
    @Test(arguments: [(after: 1, counts: false), (2, true)] as [(Int64, Bool)])
    func `an entry that continues an alert is silent only if its writer knew that the alert was sent`(
        after: Int64, counts: Bool
    ) throws {
        let (old, new) = (EntryHash("old"), EntryHash("new"))
        var log = EntryLog()
        var waiting = try #require(Self.record("0 done"))
        waiting.state.standing = .waiting
        log.fold(old, waiting, at: 1)
        log.fold(old, Self.record("1 X"), at: 2)
        var withheld = try #require(Self.record("0 known"))
        withheld.state.standing = .held
        (withheld.after, withheld.former) = (after, old)
        #expect(log.fold(new, withheld, at: 3) == counts)
        #expect(log.table[old]?.standing == (counts ? .moved : .sent))
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
}
