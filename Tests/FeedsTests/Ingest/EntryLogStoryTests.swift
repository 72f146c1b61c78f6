import Testing

@testable import Feeds

/// Records of one story under two ids, by writers that did not know both.
@Suite struct EntryLogStoryTests: EntryLogSuite {
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
}
