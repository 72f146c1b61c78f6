import KafkaModel
import NewsModel
import NotificationHub
import PublishEngine
import Testing

struct EngineIncarnationTests {
    @Test func `a result of a former incarnation does not settle a new record`() throws {
        var shell = try TestShell()
        let former = LedgerEntry(
            offset: 7, source: .init(partition: TestShell.source, offset: 0), platform: .template, outcome: .accepted,
            identity: RecordIdentity(eventID: "old"), eventID: "old")
        _ = shell.assign(ledger: [former], end: 8)
        #expect(shell.publish(news("new")).sends.count == 1)
    }

    @Test func `the same id at the same offset of another incarnation is another record`() throws {
        var shell = try TestShell()
        let former = shell.record(news("a", version: 1))
        let known = LedgerEntry(
            offset: 7, source: .init(partition: TestShell.source, offset: 0), platform: .template, outcome: .rejected,
            identity: RecordIdentity(of: former), eventID: "a")
        _ = shell.assign(ledger: [known], end: 8)
        let corrected = SourceRecord(
            offset: 0, timestamp: former.timestamp, value: Array(news("a", version: 2).utf8))
        #expect(shell.take(.records(TestShell.live, TestShell.first, TestShell.source, [corrected])).sends.count == 1)
    }

    @Test func `a record without an id is recognised by its bytes`() throws {
        var shell = try TestShell()
        let garbage = shell.record("no news")
        let known = LedgerEntry(
            offset: 7, source: .init(partition: TestShell.source, offset: 0), platform: .template,
            outcome: .undecodable, identity: RecordIdentity(of: garbage))
        _ = shell.assign(ledger: [known], end: 8)
        let again = shell.take(.records(TestShell.live, TestShell.first, TestShell.source, [garbage]))
        #expect(again.outcomes.isEmpty)
        let commits = again.commits + shell.wait(.seconds(1)).commits
        #expect(commits.joined().contains(PartitionOffset(TestShell.source, 1)))
    }

    @Test func `offsets that start again: the former incarnation is finished, then the new one is read`() throws {
        var shell = try TestShell()
        _ = shell.assign()
        let old = shell.publish(news("old"))
        let begun = shell.take(.restarted(TestShell.live, TestShell.first, TestShell.source, incarnation: 1))
        #expect(!begun.rewinds)
        let settled = shell.reply(201, to: old.sends[0])
        #expect(settled.outcomes == [.accepted])
        let stored = shell.store(settled)
        #expect(stored.rewinds)
        #expect(!stored.commits.joined().contains(PartitionOffset(TestShell.source, 1)), "that offset is history")
        _ = shell.restore(stored, end: 1)
        let record = SourceRecord(offset: 0, timestamp: shell.wall, value: Array(news("new").utf8))
        let new = shell.take(.records(TestShell.live, TestShell.first, TestShell.source, [record]))
        #expect(new.sends.count == 1)
        let done = shell.store(shell.reply(201, to: new.sends[0])) + shell.wait(.seconds(1))
        #expect(done.commits.joined().contains(PartitionOffset(TestShell.source, 1)))
    }

    @Test func `a delivery of a new incarnation that was sent before the change was noticed is not sent again`() throws
    {
        var shell = try TestShell()
        _ = shell.assign()
        let begun = shell.take(.restarted(TestShell.live, TestShell.first, TestShell.source, incarnation: 1))
        #expect(begun.rewinds)
        let known = LedgerEntry(
            offset: 3, source: .init(partition: TestShell.source, offset: 0), platform: .template, outcome: .accepted,
            identity: RecordIdentity(eventID: "a"), eventID: "a")
        _ = shell.restore(begun, ledger: [known], end: 4)
        let sent = shell.publish(news("a"), news("b")).sends
        #expect(sent.map { $0.text.contains("headline of b") } == [true])
    }

    @Test func `a new incarnation does not replace the ledger reading of another topic`() throws {
        var shell = try TestShell { $0.lanes[0].topics = ["news", "sport"] }
        let sport = TopicPartition(topic: "sport", partition: 0)
        let assigned = shell.take(.assigned(TestShell.live, TestShell.first, [TestShell.source, sport]))
        let begun = shell.take(.restarted(TestShell.live, TestShell.first, sport, incarnation: 1))
        #expect(!begun.rewinds, "the ledger of both is being read")
        let restored = shell.restore(assigned)
        #expect(restored.rewinds)
        #expect(shell.publish(news("a")).sends.count == 1)
        _ = shell.restore(restored)
        #expect(shell.publish(news("b"), partition: sport).sends.count == 1)
    }

    @Test func `L falls with a new incarnation, before any of its records is done`() throws {
        var shell = try TestShell()
        _ = shell.assign()
        var commits: [PartitionOffset] = []
        for id in ["a", "b", "c"] {
            let stored = shell.store(shell.reply(201, to: shell.publish(news(id)).sends[0]))
            commits += (stored.commits + shell.wait(.seconds(1)).commits).joined()
        }
        #expect(commits.contains(PartitionOffset(TestShell.results, 2)))
        let begun = shell.take(.restarted(TestShell.live, TestShell.first, TestShell.source, incarnation: 1))
        let known = LedgerEntry(
            offset: 1, source: .init(partition: TestShell.source, offset: 5), platform: .template, outcome: .accepted,
            identity: RecordIdentity(eventID: "b"), eventID: "b")
        let restored = begun + shell.restore(begun, ledger: [known], end: 3) + shell.wait(.seconds(1))
        let last = try #require(restored.commits.joined().last { $0.partition == TestShell.results })
        #expect(last.offset <= 1)
    }

    // MARK: Long ledgers

    private func entries(_ ids: [String], from result: Int64 = 0) -> [LedgerEntry] {
        ids.enumerated().map { index, id in
            LedgerEntry(
                offset: result + Int64(index), source: .init(partition: TestShell.source, offset: Int64(index)),
                platform: .template, outcome: .accepted, identity: RecordIdentity(eventID: id), eventID: id)
        }
    }

    @Test func `more results than there is room for are read in turns, and none is sent twice`() throws {
        var shell = try TestShell {
            $0.restoredMax = 4
            $0.duplicateWindow = 0
        }
        let ids = (0..<10).map { "e\($0)" }
        // The order of results differs from that of records.
        let ledger = entries(ids).sorted { ($0.source.offset % 3, $0.offset) < ($1.source.offset % 3, $1.offset) }
        _ = shell.assign(ledger: ledger, end: 10)
        #expect(shell.engine.counts.restored <= 4)
        var actions = shell.take(
            .records(
                TestShell.live, TestShell.first, TestShell.source, (ids + ["new"]).map { shell.record(news($0)) }))
        var turns = 0
        var sent: [Sent] = []
        while !actions.isEmpty, turns < 20 {
            sent += actions.sends
            #expect(actions.commits.joined().allSatisfy { $0.partition != TestShell.results || $0.offset <= 10 })
            actions = shell.restore(actions, ledger: ledger, end: 10)
            #expect(shell.engine.counts.restored <= 4)
            turns += 1
        }
        #expect(sent.map { $0.text.contains("headline of new") } == [true])
        #expect(turns > 2)
        let done = shell.store(shell.reply(201, to: sent[0])) + shell.wait(.seconds(1))
        #expect(done.commits.joined().contains(PartitionOffset(TestShell.source, 11)))
    }

    @Test func `results beyond the capacity are read later, and the wait has a reason`() throws {
        var shell = try TestShell { $0.restoredMax = 2 }
        let ids = (0..<4).map { "e\($0)" }
        _ = shell.assign(ledger: entries(ids, from: 100), end: 104)
        let records = ids.map { shell.record(news($0)) }
        let read = shell.take(.records(TestShell.live, TestShell.first, TestShell.source, records))
        let starts = read.compactMap { action -> Int64? in
            if case .kafka(.restore(_, _, TestShell.results, [TestShell.source], let start)) = action {
                start.offset
            } else {
                nil
            }
        }
        #expect(starts == [102])
        #expect(shell.status.waits.contains { $0.reason == .ledger })
        #expect(!read.commits.joined().contains { $0.partition == TestShell.results && $0.offset > 102 })
    }

    @Test func `a partition that is given up keeps the results of records that it has not examined`() throws {
        var shell = try TestShell { $0.restoredMax = 2 }
        let ids = (0..<4).map { "e\($0)" }
        _ = shell.assign(ledger: Array(entries(ids, from: 100).dropFirst()), end: 104)
        let sent = try #require(shell.publish(news(ids[0])).sends.first)
        _ = shell.take(.pause(TestShell.live))
        _ = shell.publish(news(ids[1]), news(ids[2]), news(ids[3]))
        _ = shell.take(.revoked(TestShell.live, TestShell.first, [TestShell.source], lost: false))
        let resumed = shell.take(.resume(TestShell.live))
        let ended = shell.store(shell.reply(201, to: sent)) + shell.wait(.seconds(5))
        let offsets = (resumed + ended).commits.joined()
        #expect(offsets.contains(PartitionOffset(TestShell.source, 1)))
        #expect(offsets.allSatisfy { $0.partition != TestShell.results || $0.offset <= 101 })
    }

    @Test func `a newer version in a further part of the ledger ends an older one that waits`() throws {
        var shell = try TestShell { $0.restoredMax = 2 }
        let ids = (0..<4).map { "e\($0)" }
        _ = shell.assign(ledger: Array(entries(ids, from: 100).dropFirst()), end: 104)
        let older = try #require(shell.publish(news("old", story: "s", version: 1)).sends.first)
        _ = shell.reply(503, to: older)
        let read = shell.publish(news(ids[1]), news(ids[2]), news(ids[3]))
        // A former owner, which had not noticed the loss of its partition, sent it.
        let newer = LedgerEntry(
            offset: 104, source: .init(partition: TestShell.source, offset: 4), platform: .template, outcome: .accepted,
            identity: RecordIdentity(eventID: "new"), eventID: "new", version: "2", story: "s")
        #expect(shell.restore(read, ledger: [newer], end: 105).outcomes.first == .superseded)
    }

    @Test func `a partition whose ledger cannot be read waits alone, with a reason`() throws {
        let other = TopicPartition(topic: "news", partition: 1)
        var shell = try TestShell()
        let assigned = shell.take(.assigned(TestShell.live, TestShell.first, [TestShell.source, other]))
        for case .kafka(.restore(let lane, let generation, let results, _, _)) in assigned {
            if results.partition == 0 {
                let end = RestoreEnd(offset: 0, start: 0, basis: .committed)
                _ = shell.take(.restored(lane, generation, results: results, entries: [], end: end))
            } else {
                let failure = KafkaFailure(code: "_RESULTS_TOO_FEW", detail: "the topic has too few partitions")
                _ = shell.take(.restoreFailed(lane, generation, results: results, failure))
            }
        }
        #expect(shell.publish(news("a")).sends.count == 1)
        let wait = try #require(shell.status.waits.first { $0.reason == .ledger })
        #expect(wait.isAlarming)
        #expect(wait.detail.contains("news/1"))
        #expect(wait.detail.contains("too few partitions"))
    }

    @Test func `topics of a lane that differ in length are a reason, with the time since when`() throws {
        var shell = try TestShell { $0.lanes[0] = LaneSettings(name: "live", topics: ["news", "sport"]) }
        _ = shell.assign()
        _ = shell.take(.partitionCounts(["news": 3, "sport": 2], readIn: [TestShell.first]))
        let since = shell.now
        _ = shell.wait(.seconds(10))
        _ = shell.take(.partitionCounts(["news": 3, "sport": 2], readIn: [TestShell.first]))
        #expect(shell.status.waits.first { $0.reason == .unequalTopics }?.since == since)
        _ = shell.take(.partitionCounts(["news": 3, "sport": 3], readIn: [TestShell.first]))
        #expect(!shell.status.waits.contains { $0.reason == .unequalTopics })
    }
}

extension [Action] {
    fileprivate var rewinds: Bool { contains { if case .kafka(.rewind) = $0 { true } else { false } } }
}
