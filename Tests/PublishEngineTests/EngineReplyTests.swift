import KafkaModel
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
        #expect(settled.endings[0].result.httpStatus == status)
        #expect(settled.deadLetters.isEmpty == !outcome.isDeadLettered)
    }

    @Test(arguments: [500, 502, 504, 408])
    func `a delivery that may have been accepted is tried five times over at least two minutes, then ends as unknown`(
        status: Int
    ) throws {
        var shell = try TestShell()
        _ = shell.assign()
        let start = shell.now
        var sends = shell.publish(news("a")).sends
        var settled: [Action] = []
        while let send = sends.first {
            settled = shell.reply(status, to: send)
            sends = []
            while sends.isEmpty, settled.outcomes.isEmpty { sends = shell.wait(.seconds(1)).sends }
        }
        #expect(settled.outcomes == [.unknown])
        #expect(settled.endings[0].result.attempts == 5)
        #expect((.seconds(120) ... .seconds(160)).contains(shell.now - start))
    }

    @Test func `a lane with the policy giveUp tries a delivery that may have been accepted once`() throws {
        var shell = try TestShell { $0.lanes[0].onUnknown = .giveUp }
        _ = shell.assign()
        let sent = shell.publish(news("a"))
        #expect(
            shell.take(.reply(.unknown(SendFailure(.requestTimeout, "timeout")), to: sent.sends[0].id)).outcomes == [
                .unknown
            ])
    }

    @Test(arguments: [nil, 3])
    func `a delivery without a deadline ends as exhausted if the hub stays overloaded`(bound: Int?) throws {
        var shell = try TestShell { $0.retry.attempts = bound }
        _ = shell.assign()
        var sends = shell.publish(news("a")).sends
        var settled: [Action] = []
        var attempts = 0
        while let send = sends.first, attempts < 50 {
            attempts += 1
            settled = shell.reply(503, to: send)
            sends = shell.wait(.seconds(60)).sends
        }
        #expect(settled.outcomes == [.exhausted])
        #expect(attempts == bound ?? 20)
    }

    @Test func `an alert outlives a bad minute of the hub, and more, until its deadline`() throws {
        var shell = try TestShell { $0.lanes[0].maxAge = .seconds(900) }
        _ = shell.assign()
        let start = shell.now
        var sends = shell.publish(news("a")).sends
        var pauses: [Duration] = []
        while shell.now - start < .seconds(840), let send = sends.first {
            let at = shell.now
            #expect(shell.reply(503, to: send).outcomes.isEmpty)
            sends = []
            while sends.isEmpty { sends = shell.wait(.seconds(1)).sends }
            pauses.append(shell.now - at)
        }
        #expect(pauses.max() ?? .zero <= .seconds(31))
        #expect(shell.reply(201, to: sends[0]).outcomes == [.accepted])
    }

    @Test func `an alert that the hub never accepted ends at its deadline as expired`() throws {
        var shell = try TestShell { $0.lanes[0].maxAge = .seconds(60) }
        _ = shell.assign()
        let sent = shell.publish(news("a"))
        #expect(shell.reply(503, to: sent.sends[0]).outcomes.isEmpty)
        var outcomes: [Outcome] = []
        for _ in 0..<61 {
            let actions = shell.wait(.seconds(1))
            outcomes += actions.outcomes
            for send in actions.sends { outcomes += shell.reply(503, to: send).outcomes }
        }
        #expect(outcomes == [.expired])
    }

    @Test func `an alert with an unanswered attempt ends at its deadline as unknown`() throws {
        var shell = try TestShell { $0.lanes[0].maxAge = .seconds(60) }
        _ = shell.assign()
        let sent = shell.publish(news("a"))
        _ = shell.take(.reply(.unknown(SendFailure(.requestTimeout, "timeout")), to: sent.sends[0].id))
        var endings: [StoreRequest] = []
        for _ in 0..<61 {
            let actions = shell.wait(.seconds(1))
            endings += actions.endings
            for send in actions.sends { endings += shell.reply(503, to: send).endings }
        }
        #expect(endings.map(\.result.outcome) == [.unknown])
        #expect(endings.first?.result.error?.code == "too-old")
    }

    @Test func `a Retry-After of an hour counts as the longest pause, and is reported`() throws {
        var shell = try TestShell()
        _ = shell.assign()
        let sent = shell.publish(news("a"))
        _ = shell.reply(503, retryAfter: .seconds(3600), to: sent.sends[0])
        #expect(shell.status.waits.contains { $0.reason == .hubPause && $0.isAlarming })
        #expect(shell.wait(.seconds(299)).sends.isEmpty)
        #expect(shell.wait(.seconds(2)).sends.count == 1)
    }

    @Test func `a connection that ends before the request was written costs no attempt`() throws {
        var shell = try TestShell { $0.retry.attempts = 2 }
        _ = shell.assign()
        var sends = shell.publish(news("a")).sends
        for _ in 0..<5 {
            let send = try #require(sends.first)
            let cut = shell.take(.reply(.notSent(SendFailure(.closedEarly, "cut in the handshake")), to: send.id))
            #expect(cut.outcomes.isEmpty)
            sends = shell.wait(.seconds(30)).sends
        }
        let accepted = shell.reply(201, to: try #require(sends.first))
        #expect(accepted.endings.first?.result.attempts == 1)
    }

    @Test func `Retry-After stops all sending for its time`() throws {
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
        #expect(shell.reply(401, to: retried[0]).endings.isEmpty)
        #expect(shell.engine.halt?.reason == .keyRefused)
        _ = shell.reply(401, to: stale.sends[0])
        #expect(shell.publish(news("c")).sends.isEmpty)
        let probe = shell.wait(.seconds(3)).sends
        #expect(probe.count == 1, "one probe at a time")
        let after = shell.reply(201, to: probe[0])
        #expect(shell.engine.halt == nil)
        #expect(after.sends.count == 2)
    }

    @Test func `another key is tried at once although the hub has refused the former one`() throws {
        var shell = try TestShell()
        _ = shell.assign()
        let refused = shell.reply(401, to: try #require(shell.publish(news("a")).sends.first))
        _ = shell.reply(401, to: try #require(refused.sends.first))
        #expect(shell.engine.halt?.reason == .keyRefused)
        let probe = shell.take(.keyChanged)
        #expect(probe.contains { if case .renewToken = $0 { true } else { false } })
        #expect(shell.reply(201, to: try #require(probe.sends.first)).outcomes == [.accepted])
        #expect(shell.engine.halt == nil)
    }

    @Test func `a halted engine without connections asks for one, to probe the hub`() throws {
        var shell = try TestShell()
        _ = shell.assign()
        let sent = shell.publish(news("a"))
        _ = shell.reply(404, to: sent.sends[0])
        _ = shell.take(.connections(0))
        #expect(shell.wait(.seconds(60)).sends.isEmpty)
        #expect(shell.engine.connectionNeed(at: shell.now).others == 1)
        _ = shell.take(.connections(1))
        #expect(shell.wait(.seconds(60)).sends.count == 1)
    }

    @Test func `an outage is told in the words of its last probe`() throws {
        var shell = try TestShell()
        _ = shell.assign()
        let first = try #require(shell.publish(news("a")).sends.first)
        _ = shell.take(.reply(.notSent(SendFailure(.connectRefused, "refused")), to: first.id))
        let probe = try #require(shell.wait(.seconds(5)).sends.first)
        _ = shell.take(.reply(.notSent(SendFailure(.connectTimeout, "the server allows no request")), to: probe.id))
        #expect(shell.engine.halt?.reason == .outage)
        #expect(shell.engine.halt?.detail == "the server allows no request")
    }

    @Test(arguments: [(403, Halt.Reason.rightMissing), (404, .hubMissing)])
    func `an error of the hub stops sending and keeps the events`(status: Int, reason: Halt.Reason) throws {
        var shell = try TestShell()
        _ = shell.assign()
        let sent = shell.publish(news("a"))
        let halted = shell.reply(status, to: sent.sends[0])
        #expect(halted.endings.isEmpty)
        #expect(shell.engine.halt?.reason == reason)
        var probes = 0
        for _ in 0..<20 {
            for probe in shell.wait(.seconds(60)).sends {
                probes += 1
                #expect(shell.reply(status, to: probe).endings.isEmpty)
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
            #expect(shell.take(.reply(.notSent(SendFailure(.connectRefused, "refused")), to: send.id)).endings.isEmpty)
            sends = shell.wait(.seconds(61)).sends
        }
        #expect(shell.reply(201, to: sends[0]).outcomes == [.accepted])
    }

    @Test func `a hub that refuses every request as overloaded is an outage: no dead letters`() throws {
        var shell = try TestShell()
        _ = shell.assign()
        let events = (0..<16).map { news("e\($0)") }
        let records = events.map { shell.record($0) }
        let sent = shell.take(.records(TestShell.live, TestShell.first, TestShell.source, records))
        for send in sent.sends { #expect(shell.reply(503, to: send).endings.isEmpty) }
        #expect(shell.engine.halt?.reason == .outage)
    }

    @Test(arguments: [502, 504, nil])
    func `a hub that answers no request is an outage: the events wait`(status: Int?) throws {
        var shell = try TestShell()
        _ = shell.assign()
        let records = (0..<16).map { shell.record(news("e\($0)")) }
        let sent = shell.take(.records(TestShell.live, TestShell.first, TestShell.source, records))
        for send in sent.sends {
            let reply: SendResult =
                status.map { .replied(HubReply(status: $0)) } ?? .unknown(SendFailure(.requestTimeout, "timeout"))
            #expect(shell.take(.reply(reply, to: send.id)).endings.isEmpty)
        }
        #expect(shell.engine.halt?.reason == .outage)
        var endings: [StoreRequest] = []
        for _ in 0..<10 {
            for probe in shell.wait(.seconds(60)).sends {
                endings += shell.take(.reply(.unknown(SendFailure(.requestTimeout, "timeout")), to: probe.id)).endings
            }
        }
        // The hub may have accepted any probe, so an event is probed at most five times.
        #expect(endings.allSatisfy { $0.result.outcome == .unknown && $0.result.attempts == 5 })
        #expect(endings.count < 4, "the others wait")
    }

    @Test func `a flood of bad events stops its lane, and no other`() throws {
        let backfill = LaneID(1)
        let archive = TopicPartition(topic: "archive", partition: 0)
        var shell = try TestShell {
            $0.floodGuard = .init(sharePercent: 50, events: 20)
            $0.lanes.append(LaneSettings(name: "backfill", topics: ["archive"]))
        }
        _ = shell.assign()
        _ = shell.assign([archive], lane: backfill)
        let bad = (0..<40).map { _ in shell.record("no news") }
        let stopped = shell.take(.records(backfill, TestShell.first, archive, bad))
        #expect(stopped.outcomes.count == 10)
        #expect(shell.status.lanes[1].flood != nil)
        #expect(shell.status.waits.contains { $0.lane == backfill && $0.reason == .flood })
        #expect(shell.publish(news("live")).sends.count == 1)
        #expect(shell.wait(.seconds(10)).outcomes.count < 5, "then one at a time, ever more slowly")
    }

    @Test func `a flood ends when an event of the lane is accepted`() throws {
        var shell = try TestShell { $0.floodGuard = .init(sharePercent: 50, events: 20) }
        _ = shell.assign()
        let bad = (0..<10).map { _ in shell.record("no news") }
        _ = shell.take(.records(TestShell.live, TestShell.first, TestShell.source, bad))
        #expect(shell.publish(news("a"), news("b")).sends.isEmpty)
        let probe = shell.wait(.seconds(3)).sends
        #expect(probe.count == 1)
        #expect(shell.reply(201, to: probe[0]).sends.count == 1)
        #expect(shell.status.lanes[0].flood == nil)
    }

    @Test func `a flood is still probed after its probe's partition was revoked`() throws {
        var shell = try TestShell { $0.floodGuard = .init(sharePercent: 50, events: 20) }
        _ = shell.assign()
        let bad = (0..<10).map { _ in shell.record("no news") }
        _ = shell.take(.records(TestShell.live, TestShell.first, TestShell.source, bad))
        _ = shell.publish(news("a"))
        let probe = try #require(shell.wait(.seconds(3)).sends.first)
        _ = shell.take(.revoked(TestShell.live, TestShell.first, [TestShell.source], lost: true))
        _ = shell.assign(generation: Generation(2))
        _ = shell.reply(503, to: probe)
        _ = shell.publish(news("b"), generation: Generation(2))
        #expect(shell.wait(.seconds(70)).sends.count == 1)
    }

    @Test(arguments: [503, 500, nil])
    func `a hub that accepts nothing is a reason while something waits, until it answers about an event`(
        status: Int?
    ) throws {
        var shell = try TestShell()
        _ = shell.assign()
        let sent = shell.publish(news("a"))
        let cut = SendResult.notSent(SendFailure(.closedEarly, "cut in the handshake"))
        _ = shell.take(.reply(status.map { .replied(HubReply(status: $0)) } ?? cut, to: sent.sends[0].id))
        #expect(shell.status.waits.contains { $0.reason == .hubFailing && $0.isAlarming })
        _ = shell.reply(201, to: try #require(shell.wait(.seconds(5)).sends.first))
        #expect(!shell.status.waits.contains { $0.reason == .hubFailing })
    }
}
