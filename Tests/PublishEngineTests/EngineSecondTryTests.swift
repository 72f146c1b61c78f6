import KafkaModel
import NewsModel
import NotificationHub
import PublishEngine
import Testing

struct EngineSecondTryTests: HoldingSuite {
    @Test func `a redriven copy that fails does not remove the accepted original from the duplicate window`() throws {
        var shell = try TestShell()
        _ = shell.assign()
        let first = shell.publish(news("a"))
        _ = shell.store(shell.reply(201, to: first.sends[0]))
        let redriven = shell.record(news("a"), headers: [RecordHeader(HeaderName.redrive, "1")])
        let again = shell.take(.records(TestShell.live, TestShell.first, TestShell.source, [redriven]))
        let rejected = shell.reply(400, to: again.sends[0])
        #expect(rejected.outcomes == [.rejected])
        _ = shell.store(rejected)
        #expect(shell.publish(news("a")).outcomes == [.duplicate])
    }

    @Test func `a redriven copy that was accepted is remembered, although the original failed`() throws {
        var shell = try TestShell()
        _ = shell.assign()
        let first = shell.publish(news("a"))
        let redriven = shell.record(news("a"), headers: [RecordHeader(HeaderName.redrive, "1")])
        _ = shell.take(.records(TestShell.live, TestShell.first, TestShell.source, [redriven]))
        let again = shell.store(shell.reply(400, to: first.sends[0]))
        #expect(shell.publish(news("a")).outcomes.isEmpty, "it waits for what becomes of the redriven one")
        #expect(shell.reply(201, to: again.sends[0]).outcomes == [.accepted, .duplicate])
        #expect(shell.publish(news("a")).outcomes == [.duplicate])
    }

    @Test
    func `a second try is sent although a redriven copy ended while the first one's dead letter was being written`()
        throws
    {
        var shell = try TestShell()
        _ = shell.assign()
        let first = shell.publish(news("a"))
        #expect(shell.publish(news("a"), headers: [RecordHeader(HeaderName.redrive, "1")]).sends.isEmpty)
        let rejected = shell.reply(400, to: first.sends[0])
        let withheld = shell.publish(news("a", status: "withheld"))
        #expect(rejected.outcomes + withheld.outcomes == [.rejected, .superseded, .withheld])
        _ = shell.store(rejected)
        _ = shell.store(withheld)
        #expect(shell.publish(news("a")).sends.count == 1)
    }

    // MARK: Events under embargo that waited here while the held topic was away

    /// Publishes events behind one in flight, and lets that one leave. Then the held topic becomes available.
    ///
    /// - Returns: the actions since the first one was accepted.
    private func held(_ events: (Instant) -> [(json: String, headers: [RecordHeader])]) throws -> (TestShell, [Action])
    {
        var shell = try shell { $0.holdsBeyond = nil }
        let first = shell.publish(news("x", story: "s"))
        for event in events(shell.wall + .seconds(600)) {
            #expect(shell.publish(event.json, headers: event.headers).outcomes.isEmpty)
        }
        var actions = shell.reply(201, to: try #require(first.sends.first))
        actions += shell.store(actions)
        _ = shell.take(.holdsBeyond(.seconds(60)))
        actions += shell.take(.held([]))
        return (shell, actions)
    }

    @Test func `a redriven copy that leaves is remembered, although a later event ended the original`() throws {
        var (shell, held) = try held { due in
            [
                (news("a", story: "s", embargo(due)), []), (news("a", story: "s"), redriven(nil)),
                (news("b", story: "s"), []),
            ]
        }
        #expect(held.outcomes == [.accepted, .superseded])
        for _ in 0..<2 {
            let accepted = shell.reply(201, to: try #require(held.sends.first))
            held = accepted + shell.store(accepted)
        }
        #expect(shell.publish(news("a", story: "s")).outcomes == [.duplicate])
    }

    @Test func `a second try is sent if a later event ended the original and its redriven copy is held`() throws {
        var (shell, held) = try held { due in
            [
                (news("a", story: "s", embargo(due)), []),
                (news("a", story: "s", embargo(due)), redriven("news/0/9/template")),
                (news("a", story: "s"), redriven("news/0/9/template")), (news("b", story: "s"), []),
                (news("a", story: "s"), []),
            ]
        }
        #expect(held.outcomes == [.accepted, .superseded, .duplicate] && held.holds.count == 1)
        let accepted = shell.reply(201, to: try #require(held.sends.first))
        held = accepted + shell.store(accepted)
        #expect(held.outcomes == [.accepted] && held.sends.map { $0.text.contains("headline of a") } == [true])
    }

    @Test func `a second try is sent if the original has expired and its redriven copy is held`() throws {
        var shell = try shell { $0.holdsBeyond = nil }
        let due = embargo(shell.wall + .seconds(600))
        _ = shell.publish(news("a", story: "s", due + #","expiresAt":"\#(shell.wall + .seconds(300))""#))
        _ = shell.publish(news("a", story: "s", due), headers: redriven("news/0/9/template"))
        _ = shell.publish(news("a", story: "s"), headers: redriven("news/0/9/template"))
        _ = shell.take(.holdsBeyond(.seconds(60)))
        shell.now = shell.now + .seconds(301)
        let held = shell.take(.held([]))
        #expect(held.outcomes == [.expired, .duplicate] && held.holds.count == 1)
        #expect(shell.publish(news("a", story: "s")).sends.count == 1)
    }

    // MARK: Records that repeat the same delivery

    private func redriven(_ repeated: String?) -> [RecordHeader] {
        [RecordHeader(HeaderName.redrive, "1")] + (repeated.map { [RecordHeader(HeaderName.redriveOf, $0)] } ?? [])
    }

    @Test func `of two redriven records of one dead letter one is sent, also after a restart`() throws {
        var shell = try TestShell()
        _ = shell.assign()
        _ = shell.store(shell.reply(400, to: shell.publish(news("a")).sends[0]))
        let first = shell.publish(news("a"), headers: redriven("news/0/0/template"))
        #expect(shell.publish(news("a"), headers: redriven("news/0/0/template")).outcomes.isEmpty, "it waits")
        let accepted = shell.reply(201, to: try #require(first.sends.first))
        #expect((accepted + shell.store(accepted)).outcomes == [.accepted, .duplicate])

        var next = try TestShell()
        let entry = LedgerEntry(
            offset: 0, source: .init(partition: TestShell.source, offset: 40), platform: .template, outcome: .accepted,
            identity: RecordIdentity(eventID: "a"), eventID: "a", redriveOf: "news/0/0/template")
        _ = next.assign(ledger: [entry], end: 1)
        #expect(next.publish(news("a"), headers: redriven("news/0/0/template")).outcomes == [.duplicate])
        #expect(next.publish(news("a"), headers: redriven("news/0/1/template")).sends.count == 1)
    }

    @Test(arguments: [true, false])
    func `a second redriven record is sent if the first one was not accepted`(isOriginalAccepted: Bool) throws {
        var shell = try TestShell()
        _ = shell.assign()
        _ = shell.store(shell.reply(isOriginalAccepted ? 201 : 400, to: shell.publish(news("a")).sends[0]))
        let first = shell.publish(news("a"), headers: redriven("news/0/0/template"))
        _ = shell.publish(news("a"), headers: redriven("news/0/0/template"))
        let rejected = shell.reply(400, to: try #require(first.sends.first))
        let second = rejected + shell.store(rejected)
        #expect(second.outcomes == [.rejected])
        #expect(shell.reply(201, to: try #require(second.sends.first)).outcomes == [.accepted])
    }

    @Test func `redriven records that name no delivery are all sent`() throws {
        var shell = try TestShell()
        _ = shell.assign()
        for _ in 0..<2 {
            let sent = shell.publish(news("a"), headers: redriven(nil))
            _ = shell.store(shell.reply(201, to: try #require(sent.sends.first)))
        }
    }

    @Test func `a refusal after an unanswered attempt is no proof that nothing was sent`() throws {
        var shell = try TestShell()
        _ = shell.assign()
        let sent = shell.publish(news("a"))
        _ = shell.take(.reply(.unknown(SendFailure(.requestTimeout, "timeout")), to: sent.sends[0].id))
        let retry = shell.wait(.seconds(10)).sends
        #expect(shell.reply(400, to: retry[0]).outcomes == [.unknown])
    }

    @Test func `a second copy does not leave behind a newer version that stood between it and the first`() throws {
        var shell = try TestShell()
        _ = shell.assign()
        let first = shell.publish(news("a", story: "s", version: 1))
        _ = shell.publish(news("b", story: "s", version: 2))
        #expect(shell.publish(news("a", story: "s", version: 1)).outcomes.isEmpty)
        let newer = shell.store(shell.reply(400, to: first.sends[0])).sends
        #expect(newer.map { $0.text.contains("headline of b") } == [true])
        let ended = shell.reply(201, to: newer[0])
        #expect((ended + shell.store(ended)).outcomes == [.accepted, .superseded])
    }

    @Test(arguments: [true, false])
    func `a second copy that arrives while the first is in flight waits for its outcome`(isTaken: Bool) throws {
        var shell = try TestShell()
        _ = shell.assign()
        let first = shell.publish(news("a", version: 1))
        #expect(shell.publish(news("a", version: 1)).outcomes.isEmpty)
        let ended = shell.reply(isTaken ? 201 : 400, to: first.sends[0])
        let after = shell.store(ended)
        #expect((ended + after).outcomes == (isTaken ? [.accepted, .duplicate] : [.rejected]))
        #expect((ended + after).sends.count == (isTaken ? 0 : 1))
    }
}
