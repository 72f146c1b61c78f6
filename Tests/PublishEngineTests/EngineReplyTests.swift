import NewsModel
import NotificationHub
import PublishEngine
import Testing

struct EngineReplyTests {
    @Test(arguments: [
        (200, Outcome.accepted), (201, .accepted), (400, .rejected), (413, .rejected), (409, .rejected),
        (422, .rejected),
    ])
    func `a final status settles the delivery`(status: Int, outcome: Outcome) throws {
        var shell = try TestShell()
        _ = shell.assign()
        let sent = shell.publish(news("a"))
        let settled = shell.reply(status, to: sent.sends[0])
        #expect(settled.outcomes == [outcome])
        #expect(settled.stores[0].result.httpStatus == status)
        #expect((settled.stores[0].deadLetter != nil) == outcome.isDeadLettered)
    }

    @Test(arguments: [500, 502, 504, 408])
    func `an unknown acceptance is tried a few times, then ends as unknown`(status: Int) throws {
        var shell = try TestShell()
        _ = shell.assign()
        var sends = shell.publish(news("a")).sends
        var settled: [Action] = []
        for _ in 0..<10 {
            guard let send = sends.first else { break }
            settled = shell.reply(status, to: send)
            sends = shell.wait(.seconds(30)).sends
        }
        #expect(settled.outcomes == [.unknown])
        #expect(settled.stores[0].result.attempts == 3)
    }

    @Test func `a lane that gives up tries an unknown acceptance once`() throws {
        var shell = try TestShell { $0.lanes[0].onUnknown = .giveUp }
        _ = shell.assign()
        let sent = shell.publish(news("a"))
        #expect(shell.take(.reply(token: sent.sends[0].token, .unanswered(detail: "timeout"))).outcomes == [.unknown])
    }

    @Test func `a delivery the hub is always too busy for ends as exhausted`() throws {
        var shell = try TestShell()
        _ = shell.assign()
        var sends = shell.publish(news("a")).sends
        var settled: [Action] = []
        var attempts = 0
        while let send = sends.first, attempts < 20 {
            attempts += 1
            settled = shell.reply(503, to: send)
            sends = shell.wait(.seconds(30)).sends
        }
        #expect(settled.outcomes == [.exhausted])
        #expect(attempts == 8)
    }

    @Test func `Retry-After keeps everyone away, as long as it says`() throws {
        var shell = try TestShell()
        _ = shell.assign()
        let sent = shell.publish(news("a"))
        _ = shell.reply(429, retryAfter: .seconds(30), to: sent.sends[0])
        #expect(shell.publish(news("b")).sends.isEmpty)
        #expect(shell.wait(.seconds(29)).sends.isEmpty)
        #expect(shell.wait(.seconds(2)).sends.count == 2)
    }

    @Test func `a refused token is renewed once, then sending halts until a probe passes`() throws {
        var shell = try TestShell()
        _ = shell.assign()
        let first = shell.publish(news("a"), news("b"))
        let renewed = shell.reply(401, to: first.sends[0])
        #expect(renewed.contains { if case .renewToken = $0 { true } else { false } })
        let retried = renewed.sends
        #expect(retried.count == 1)
        let stale = shell.reply(401, to: first.sends[1])
        #expect(stale.sends.count == 1, "a reply to the old token says nothing of the new one")
        #expect(shell.reply(401, to: retried[0]).stores.isEmpty)
        #expect(shell.engine.halt?.reason == .keyRefused)
        _ = shell.reply(401, to: stale.sends[0])
        #expect(shell.publish(news("c")).sends.isEmpty)
        let probe = shell.wait(.seconds(3)).sends
        #expect(probe.count == 1, "one probe at a time")
        let after = shell.reply(201, to: probe[0])
        #expect(shell.engine.halt == nil)
        #expect(after.sends.count == 2)
    }

    @Test(arguments: [(403, Halt.Reason.rightMissing), (404, .hubMissing)])
    func `what is wrong with the hub stops sending and keeps the events`(status: Int, reason: Halt.Reason) throws {
        var shell = try TestShell()
        _ = shell.assign()
        let sent = shell.publish(news("a"))
        let halted = shell.reply(status, to: sent.sends[0])
        #expect(halted.stores.isEmpty)
        #expect(shell.engine.halt?.reason == reason)
        var probes = 0
        for _ in 0..<20 {
            for probe in shell.wait(.seconds(60)).sends {
                probes += 1
                #expect(shell.reply(status, to: probe).stores.isEmpty)
            }
        }
        #expect((10...25).contains(probes), "probes back off to one a minute, not \(probes) in 20 minutes")
    }

    @Test func `an unreachable hub costs no attempt`() throws {
        var shell = try TestShell()
        _ = shell.assign()
        var sends = shell.publish(news("a")).sends
        for _ in 0..<30 {
            let send = try #require(sends.first)
            #expect(shell.take(.reply(token: send.token, .notSent(.unreachable, detail: "refused"))).stores.isEmpty)
            sends = shell.wait(.seconds(61)).sends
        }
        #expect(shell.reply(201, to: sends[0]).outcomes == [.accepted])
    }

    @Test func `a hub too busy for everyone is an outage: no dead letters`() throws {
        var shell = try TestShell()
        _ = shell.assign()
        let events = (0..<16).map { news("e\($0)") }
        let records = events.map { shell.record($0) }
        let sent = shell.take(.records(lane: 0, generation: 1, partition: TestShell.source, records: records))
        for send in sent.sends { #expect(shell.reply(503, to: send).stores.isEmpty) }
        #expect(shell.engine.halt?.reason == .outage)
    }

    @Test(arguments: [502, 504, nil])
    func `a hub that answers nobody is an outage: no dead letters`(status: Int?) throws {
        var shell = try TestShell()
        _ = shell.assign()
        let records = (0..<16).map { shell.record(news("e\($0)")) }
        let sent = shell.take(.records(lane: 0, generation: 1, partition: TestShell.source, records: records))
        for send in sent.sends {
            let reply: Reply = status.map { .replied(HubReply(status: $0)) } ?? .unanswered(detail: "timeout")
            #expect(shell.take(.reply(token: send.token, reply)).stores.isEmpty)
        }
        #expect(shell.engine.halt?.reason == .outage)
        for _ in 0..<10 {
            for probe in shell.wait(.seconds(60)).sends {
                #expect(shell.take(.reply(token: probe.token, .unanswered(detail: "timeout"))).stores.isEmpty)
            }
        }
    }

    @Test func `a flood of bad events stops the line`() throws {
        var shell = try TestShell { $0.floodGuard = .init(sharePercent: 50, events: 20) }
        _ = shell.assign()
        let bad = (0..<40).map { _ in shell.record("no news") }
        let stopped = shell.take(.records(lane: 0, generation: 1, partition: TestShell.source, records: bad))
        #expect(stopped.outcomes.count == 10)
        #expect(shell.engine.halt?.reason == .flood)
        #expect(shell.wait(.seconds(10)).outcomes.count < 5, "then one at a time, ever more slowly")
    }
}
