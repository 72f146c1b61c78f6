import EditorialControl
import KafkaModel
import NewsModel
import NotificationHub
import PublishEngine
import Testing

/// News for many single readers needs several sends. Each one's end is committed, so that the next owner of the partition continues.
struct SendProgressTests {
    private static let event: String = {
        let readers = (1...12).map { "\"r\($0)\"" }.joined(separator: ",")
        return #"{"id":"1","headline":"h","story":"s","expiresAt":"2028-01-01T00:00:00Z","users":[\#(readers)]}"#
    }()

    private func shell(
        _ inherited: [SendProgress] = [], policy: ContentPolicy = ContentPolicy(),
        change: (inout EngineSettings) -> Void = { _ in }
    ) throws -> TestShell {
        var shell = try TestShell(change: change, templates: .standard, policy: policy)
        shell.inherited = inherited
        _ = shell.assign()
        return shell
    }

    /// The record of the event, the same in every shell.
    private var record: SourceRecord {
        SourceRecord(
            offset: 0, timestamp: Instant(nanoseconds: 1_800_000_000_000_000_000), key: nil,
            value: Array(Self.event.utf8))
    }

    private func read(_ record: SourceRecord, in shell: inout TestShell) -> [Action] {
        shell.take(.records(TestShell.live, TestShell.first, TestShell.source, [record]))
    }

    private func progress(_ actions: [Action]) -> [SendProgress] { actions.commits.last?.first?.progress ?? [] }

    /// The progress that an owner commits after this number of accepted sends.
    private func committed(after count: Int) throws -> [SendProgress] {
        var shell = try shell()
        var actions = read(record, in: &shell)
        for _ in 0..<count { actions = shell.reply(201, to: try #require(actions.sends.first)) }
        return progress(actions)
    }

    private func tags(_ sent: Sent?) -> String { sent?.request.tags ?? "" }

    // MARK: One owner

    @Test func `the next send leaves once the end of the one before is committed`() throws {
        var shell = try shell()
        shell.answersCommits = false
        let first = try #require(read(record, in: &shell).sends.first)
        let accepted = shell.reply(201, to: first)
        #expect(accepted.sends.isEmpty)
        #expect(progress(accepted).map(\.sends) == [1])
        let offsets = try #require(accepted.commits.last)
        let second = try #require(shell.take(.committed(TestShell.live, TestShell.first, offsets)).sends.first)
        #expect(tags(second).contains("{r6}") && !tags(second).contains("{r1}"))
    }

    @Test func `three commits that fail do not keep the rest of the readers from their news`() throws {
        var shell = try shell()
        shell.answersCommits = false
        var actions = shell.reply(201, to: try #require(read(record, in: &shell).sends.first))
        for _ in 1...3 {
            #expect(actions.sends.isEmpty && actions.commits.count == 1)
            let refused = KafkaFailure(code: "COORDINATOR_LOAD_IN_PROGRESS", isRetriable: true, detail: "not now")
            actions =
                shell.take(
                    .kafka(.committed(TestShell.live, TestShell.first, offsets: [], failure: refused)))
                + shell.wait(.seconds(3))
        }
        #expect(actions.sends.count == 1)
    }

    @Test func `news that the hub refuses for some readers goes to the others`() throws {
        var shell = try shell()
        let second = shell.reply(201, to: try #require(read(record, in: &shell).sends.first))
        let third = shell.reply(400, to: try #require(second.sends.first))
        #expect(progress(third).map { [$0.sends, $0.refused] } == [[2, 1]])
        let ending = shell.reply(201, to: try #require(third.sends.first)).endings.first
        #expect(ending?.result.outcome == .unknown && ending?.result.error?.code == "partly-refused")
        #expect(ending?.result.sends == 2 && ending?.result.attempts == 3)
    }

    @Test func `a first send that the hub refuses ends the event, because its text is at fault`() throws {
        var shell = try shell()
        let refused = shell.reply(400, to: try #require(read(record, in: &shell).sends.first))
        #expect(refused.outcomes == [.rejected] && refused.sends.isEmpty)
    }

    @Test func `each send has its own attempts`() throws {
        var shell = try shell { $0.retry.attempts = 2 }
        var actions = read(record, in: &shell)
        for _ in 1...3 {
            let busy = shell.reply(429, retryAfter: .seconds(1), to: try #require(actions.sends.first))
            let again = (busy + shell.wait(.seconds(60))).sends
            actions = shell.reply(201, to: try #require(again.first))
        }
        let result = try #require(actions.endings.first).result
        #expect(result.outcome == .accepted && result.sends == 3 && result.attempts == 6)
    }

    @Test(arguments: [429, 504])
    func `a later send whose attempts are used up does not keep the rest of the readers from their news`(
        status: Int
    ) throws {
        var shell = try shell {
            $0.retry.attempts = 1
            $0.lanes[0].onUnknown = .giveUp
        }
        let second = shell.reply(201, to: try #require(read(record, in: &shell).sends.first))
        let ended = shell.reply(status, retryAfter: .seconds(1), to: try #require(second.sends.first))
        #expect(ended.endings.isEmpty && progress(ended).map { [$0.sends, $0.refused] } == [[2, 1]])
        let third = try #require((ended + shell.wait(.seconds(60))).sends.first)
        #expect(tags(third).contains("{r11}"))
        let result = try #require(shell.reply(201, to: third).endings.first).result
        #expect(result.outcome == .unknown && result.error?.code == "partly-refused")
        #expect(result.sends == 2 && result.attempts == 3)
    }

    @Test func `a first send whose attempts are used up ends the event`() throws {
        var shell = try shell { $0.retry.attempts = 1 }
        let ended = shell.reply(503, to: try #require(read(record, in: &shell).sends.first))
        #expect(ended.outcomes == [.exhausted] && shell.wait(.seconds(60)).sends.isEmpty)
    }

    // MARK: Two owners

    @Test(arguments: [1, 2])
    func `the next owner continues behind the sends that are done`(count: Int) throws {
        var shell = try shell(committed(after: count))
        var sent = try #require(read(record, in: &shell).sends.first)
        #expect(tags(sent).contains(count == 1 ? "{r6}" : "{r11}"))
        if count == 1 { sent = try #require(shell.reply(201, to: sent).sends.first) }
        let result = try #require(shell.reply(201, to: sent).endings.first).result
        #expect(result.outcome == .accepted && result.sends == 3 && result.attempts == 3)
    }

    @Test func `a revoke leaves the rest to the next owner, and waits for the send in flight only`() throws {
        var shell = try shell()
        let first = try #require(read(record, in: &shell).sends.first)
        let revoked = shell.take(.revoked(TestShell.live, TestShell.first, [TestShell.source], lost: false))
        #expect(revoked.releases == 0)
        let accepted = shell.reply(201, to: first)
        #expect(accepted.sends.isEmpty && accepted.releases == 1)
        #expect(progress(accepted).map(\.sends) == [1])
    }

    @Test func `a shutdown ends after the send in flight, and its progress is committed`() throws {
        var shell = try shell()
        let first = try #require(read(record, in: &shell).sends.first)
        #expect(!shell.take(.drain).hasFinish)
        let accepted = shell.reply(201, to: first)
        #expect(accepted.sends.isEmpty && accepted.hasFinish && progress(accepted).map(\.sends) == [1])
    }

    @Test func `progress that was not read again yet is committed again`() throws {
        let inherited = try committed(after: 2)
        var shell = try shell(inherited)
        let end = shell.take(.endReached(TestShell.live, TestShell.first, TestShell.source, offset: 0))
        #expect(progress(end + shell.wait(.seconds(1))) == inherited)
    }

    @Test func `another record at the same offset starts with its first readers`() throws {
        var shell = try shell(committed(after: 1))
        var other = record
        other.timestamp = Instant(nanoseconds: 1_800_000_001_000_000_000)
        #expect(tags(read(other, in: &shell).sends.first).contains("{r1}"))
    }

    @Test func `no outcome of the next owner denies that some readers have the event`() throws {
        var shell = try shell(committed(after: 1))
        _ = shell.take(.orders([OrderChange.recall("s")]))
        let result = try #require(read(record, in: &shell).endings.first).result
        #expect(result.outcome == .unknown && result.error?.code == "recalled" && result.sends == 1)
    }

    @Test func `news that the next owner must not send may have reached some readers`() throws {
        let policy = ContentPolicy(environment: "staging", acceptsUnstamped: false)
        var shell = try shell(committed(after: 1), policy: policy)
        let result = try #require(read(record, in: &shell).endings.first).result
        #expect(result.outcome == .unknown && result.error?.code == "environment" && result.attempts == 1)
    }

    @Test func `with other tags the next owner starts again, and a recall does not deny the first sends`() throws {
        let inherited = try committed(after: 1)
        var shell = try shell(inherited, policy: ContentPolicy(users: .signed(with: AccessKey("0123456789abcdef"))))
        let actions = read(record, in: &shell)
        #expect(tags(actions.sends.first).contains("user_"))
        let end = shell.take(.endReached(TestShell.live, TestShell.first, TestShell.source, offset: 0))
        #expect(progress(actions + end + shell.wait(.seconds(1))) == inherited)
        let refused = shell.reply(503, to: try #require(actions.sends.first))
        #expect(refused.endings.isEmpty)
        let recalled = shell.take(.orders([OrderChange.recall("s")]))
        #expect(recalled.endings.first?.result.outcome == .unknown)
    }

    @Test func `a last commit that the broker could not take yet is made again before the release`() throws {
        var shell = try shell()
        shell.answersCommits = false
        let first = try #require(read(record, in: &shell).sends.first)
        _ = shell.take(.revoked(TestShell.live, TestShell.first, [TestShell.source], lost: false))
        let accepted = shell.reply(201, to: first)
        #expect(accepted.commits.count == 1 && accepted.releases == 0)
        let failure = KafkaFailure(code: "COORDINATOR_LOAD_IN_PROGRESS", isRetriable: true, detail: "not now")
        let failed = shell.take(.kafka(.committed(TestShell.live, TestShell.first, offsets: [], failure: failure)))
        let again = failed + shell.wait(.seconds(1))
        #expect(progress(again).map(\.sends) == [1] && again.releases == 0)
        let taken = shell.take(.committed(TestShell.live, TestShell.first, try #require(again.commits.last)))
        #expect(taken.releases == 1)
    }

    @Test func `a recall that comes before the ledger is read may meet the sends of a former owner`() throws {
        var shell = try TestShell(templates: .standard)
        let now = shell.wall
        func recall(_ age: Duration) -> OrderChange {
            .stands(Order(id: "O", scope: .recall(story: "s"), at: now - age, by: "desk"))
        }
        #expect(shell.take(.orders([recall(.seconds(1))])).applied.map(\.inFlight) == [1])
        #expect(shell.take(.orders([recall(.seconds(61))])).applied.map(\.inFlight) == [0], "nobody waits for it")
        _ = shell.assign()
        #expect(shell.take(.orders([recall(.seconds(1))])).applied.map(\.inFlight) == [0])
    }

    @Test func `a recall counts what a former owner has sent to some readers`() throws {
        var shell = try shell(committed(after: 1))
        #expect(shell.take(.orders([OrderChange.recall("s")])).applied.map(\.inFlight) == [1])
    }

    @Test func `a recall by an event counts it too, though it was read before the ledger`() throws {
        var shell = try TestShell(templates: .standard)
        shell.inherited = try committed(after: 1)
        let other = ResultRecord.Source(partition: TopicPartition(topic: "news", partition: 1), offset: 0)
        _ = shell.take(.recalled(EventRecall(story: "s", eventID: "r", source: other, at: nil)))
        _ = shell.assign()
        #expect(shell.take(.orders([OrderChange.recall("s")])).applied.map(\.inFlight) == [1])
    }

    @Test func `a recall counts what ended when its record was read`() throws {
        var shell = try shell(committed(after: 1))
        _ = shell.wait(.seconds(100_000_000))
        let result = try #require(read(record, in: &shell).endings.first).result
        #expect(result.outcome == .unknown && result.sends == 1)
        #expect(shell.take(.orders([OrderChange.recall("s")])).applied.map(\.inFlight) == [1])
    }

    @Test func `progress of a record that the ledger has settled counts in no recall`() throws {
        var shell = try TestShell(templates: .standard)
        shell.inherited = try committed(after: 1)
        let settled = LedgerEntry(
            offset: 0, source: .init(partition: TestShell.source, offset: 0), platform: .template, outcome: .accepted,
            identity: RecordIdentity(of: record), eventID: "1", version: nil, story: "s", isOpen: true)
        _ = shell.assign(ledger: [settled], end: 1)
        #expect(read(record, in: &shell).sends.isEmpty)
        #expect(shell.take(.orders([OrderChange.recall("other")])).applied.map(\.inFlight) == [0])
    }
}
