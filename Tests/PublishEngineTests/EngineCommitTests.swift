import KafkaModel
import NewsModel
import NotificationHub
import PublishEngine
import Testing

let refusedCommit = KafkaFailure(code: "REBALANCE_IN_PROGRESS", isRetriable: true, detail: "the group rebalances")

struct EngineCommitTests {
    @Test func `an event is sent once, reported once, and committed behind its stored result`() throws {
        var shell = try TestShell()
        _ = shell.assign()
        let sent = shell.publish(news("a"))
        #expect(sent.sends.count == 1)
        #expect(sent.commits.isEmpty)
        let settled = shell.reply(201, to: sent.sends[0])
        #expect(settled.outcomes == [.accepted])
        #expect(settled.commits.isEmpty)
        #expect(shell.wait(.seconds(5)).commits.isEmpty, "the result is not stored yet")
        let stored = shell.store(settled)
        #expect(stored.commits == [[PartitionOffset(TestShell.source, 1), PartitionOffset(TestShell.results, 0)]])
    }

    @Test func `a result stored early waits for the one before it, and the ledger keeps it`() throws {
        var shell = try TestShell()
        _ = shell.assign()
        let sends = shell.publish(news("a"), news("b")).sends
        let second = shell.reply(201, to: sends[1])
        #expect((shell.store(second) + shell.wait(.seconds(1))).commits.flatMap { $0 }.allSatisfy { $0.offset == 0 })
        let first = shell.reply(201, to: sends[0])
        let commits = (shell.store(first) + shell.wait(.seconds(1))).commits
        #expect(commits.last?.first == PartitionOffset(TestShell.source, 2))
    }

    @Test func `L is the first result that a restart still needs, by the watermark that the broker has`() throws {
        var shell = try TestShell()
        _ = shell.assign()
        let sends = shell.publish(news("a"), news("b"), news("c")).sends
        // Results: b at 0, a at 1; c is open. W is 2. If the broker refuses W, a restart needs both results.
        _ = shell.store(shell.reply(201, to: sends[1]))
        let commits = (shell.store(shell.reply(201, to: sends[0])) + shell.wait(.seconds(1))).commits
        #expect(commits.last == [PartitionOffset(TestShell.source, 2), PartitionOffset(TestShell.results, 0)])
        // The broker has W: the next commit needs only what it covers itself.
        let next = (shell.store(shell.reply(201, to: sends[2])) + shell.wait(.seconds(1))).commits
        #expect(next.last == [PartitionOffset(TestShell.source, 3), PartitionOffset(TestShell.results, 2)])
    }

    @Test(arguments: [true, false])
    func `a result acknowledged ahead of earlier ones does not look like a new results topic`(isFirst: Bool) throws {
        var shell = try TestShell(change: { $0.platforms = [.apple, .fcmv1] })
        _ = shell.assign()
        let sends = shell.publish(news("a"), news("b")).sends
        try #require(sends.count == 4)
        func store(_ send: Int, at offset: Int64, isAlone: Bool = false) throws -> [PartitionOffset] {
            let request = try #require(shell.reply(201, to: sends[send]).results.first)
            let record = StoredRecord(delivery: request.delivery, kind: .result, offset: offset, isAlone: isAlone)
            return (shell.take(.stored([record])) + shell.wait(.seconds(1))).commits.flatMap { $0 }
        }
        // A restart needs this result until the record's other platform has one too.
        var commits = try store(0, at: 90)
        if isFirst { commits += try store(2, at: 4_097, isAlone: true) }
        // Every lane commits at a multiple of 2,048.
        commits += try store(3, at: 4_096)
        if !isFirst { commits += try store(2, at: 4_097, isAlone: true) }
        #expect(commits.allSatisfy { $0.partition != TestShell.results || $0.offset <= 90 })
        let last = try store(1, at: 4_098)
        #expect(last == [PartitionOffset(TestShell.source, 2), PartitionOffset(TestShell.results, 90)])
    }

    @Test func `a delivery that the ledger knows is not sent again`() throws {
        var shell = try TestShell()
        let settled = LedgerEntry(
            offset: 7, source: .init(partition: TestShell.source, offset: 0), platform: .template, outcome: .accepted,
            identity: RecordIdentity(eventID: "a"), eventID: "a")
        _ = shell.assign(ledger: [settled], end: 8)
        let actions = shell.publish(news("a"), news("b"))
        #expect(actions.sends.map(\.text).allSatisfy { $0.contains("headline of b") })
        #expect(actions.outcomes.isEmpty)
        let after = shell.store(shell.reply(201, to: actions.sends[0])) + shell.wait(.seconds(1))
        #expect(after.commits.last?.first == PartitionOffset(TestShell.source, 2))
    }

    @Test func `a gap at the end is committed over`() throws {
        var shell = try TestShell()
        _ = shell.assign()
        let commits = shell.take(.endReached(TestShell.live, TestShell.first, TestShell.source, offset: 5)).commits
        #expect(commits.last?.first == PartitionOffset(TestShell.source, 5))
    }

    @Test func `a failed commit is tried again`() throws {
        var shell = try TestShell()
        shell.answersCommits = false
        _ = shell.assign()
        let stored = shell.store(shell.reply(201, to: shell.publish(news("a")).sends[0]))
        #expect(stored.commits.count == 1)
        _ = shell.take(.committed(TestShell.live, TestShell.first, offsets: [], failure: refusedCommit))
        let again = shell.wait(.seconds(1)).commits
        #expect(again == stored.commits)
    }

    @Test func `nothing is sent before the ledger is restored`() throws {
        var shell = try TestShell()
        _ = shell.take(.assigned(TestShell.live, TestShell.first, [TestShell.source]))
        #expect(shell.publish(news("a")).sends.isEmpty)
    }

    @Test func `a revoke waits for replies and results, commits, and releases`() throws {
        var shell = try TestShell()
        shell.answersCommits = false
        _ = shell.assign()
        let sent = shell.publish(news("a"), news("b", story: "s"), news("c", story: "s"))
        #expect(sent.sends.count == 2)
        #expect(
            shell.take(.revoked(TestShell.live, TestShell.first, [TestShell.source], lost: false)).releases == 0)
        let first = shell.reply(201, to: sent.sends[0])
        let second = shell.reply(201, to: sent.sends[1])
        #expect((first + second).sends.isEmpty, "nothing new leaves while draining")
        _ = shell.store(first)
        let stored = shell.store(second) + shell.wait(.milliseconds(300))
        #expect(stored.commits.last?.first?.offset == 2)
        #expect(stored.releases == 0)
        #expect(shell.take(.committed(TestShell.live, TestShell.first)).releases == 1)
        #expect(shell.engine.status(at: Moment(steady: shell.now, wall: shell.wall)).lanes[0].buffered == 0)
    }

    @Test func `a revoke ends at its deadline`() throws {
        var shell = try TestShell()
        _ = shell.assign()
        _ = shell.publish(news("a"))
        _ = shell.take(.revoked(TestShell.live, TestShell.first, [TestShell.source], lost: false))
        #expect(shell.wait(.seconds(11)).releases == 1)
    }

    @Test func `replies and acknowledgements after the partitions went have no effect`() throws {
        var shell = try TestShell()
        _ = shell.assign()
        let sent = shell.publish(news("a")).sends[0]
        _ = shell.take(.revoked(TestShell.live, TestShell.first, [TestShell.source], lost: true))
        _ = shell.assign(generation: Generation(2))
        let late = shell.reply(201, to: sent)
        #expect(late.endings.isEmpty)
        #expect(late.commits.isEmpty)
    }

    @Test func `a drain finishes work under way and sends nothing new`() throws {
        var shell = try TestShell { $0.connections = 1 }
        shell.answersCommits = false
        _ = shell.assign()
        let sent = shell.publish(news("a"), news("b"))
        #expect(sent.sends.count == 1)
        #expect(!shell.take(.drain).hasFinish)
        let settled = shell.reply(201, to: sent.sends[0])
        #expect(settled.sends.isEmpty)
        _ = shell.store(settled)
        _ = shell.wait(.milliseconds(300))
        #expect(
            shell.take(.committed(TestShell.live, TestShell.first)).hasFinish)
    }
}
