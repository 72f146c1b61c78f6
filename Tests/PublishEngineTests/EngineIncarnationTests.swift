import KafkaModel
import NewsModel
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
        let begun = shell.take(.beganAnew(TestShell.live, TestShell.first, TestShell.source))
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
        let begun = shell.take(.beganAnew(TestShell.live, TestShell.first, TestShell.source))
        #expect(begun.rewinds)
        let known = LedgerEntry(
            offset: 3, source: .init(partition: TestShell.source, offset: 0), platform: .template, outcome: .accepted,
            identity: RecordIdentity(eventID: "a"), eventID: "a")
        _ = shell.restore(begun, ledger: [known], end: 4)
        let sent = shell.publish(news("a"), news("b")).sends
        #expect(sent.map { $0.text.contains("headline of b") } == [true])
    }

    @Test func `a partition whose ledger cannot be read waits by itself, and says why`() throws {
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
