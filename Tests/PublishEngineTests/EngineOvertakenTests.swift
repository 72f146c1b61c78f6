import EditorialControl
import KafkaModel
import NewsModel
import NotificationHub
import PublishEngine
import Testing

/// Events that wait in the window until they are due, because the held topic is away or has refused them. A later event of their
/// story does not wait for them, and they do not follow it.
struct EngineOvertakenTests: HoldingSuite {
    /// Versions of the earlier and the later event.
    static let versions: [(Int?, Int?)] = [(nil, nil), (1, nil), (nil, 2), (1, 2)]

    private func refusal(of held: [Action]) throws -> KafkaEvent {
        .tooLargeToHold([try #require(held.holds.first?.request.delivery)])
    }

    @Test(arguments: versions)
    func `an event that the held topic refuses does not follow a later one that leaves`(
        earlier: Int?, later: Int?
    ) throws {
        for hasArrived in [false, true] {
            var shell = try shell()
            let held = shell.publish(news("a", story: "s", version: earlier, embargo(shell.wall + .seconds(600))))
            let send = try #require(shell.publish(news("b", story: "s", version: later)).sends.first)
            if hasArrived { _ = shell.store(shell.reply(201, to: send)) }
            #expect(shell.take(try refusal(of: held)).outcomes == [.superseded])
            if !hasArrived { _ = shell.store(shell.reply(201, to: send)) }
            #expect(shell.wait(.seconds(601)).sends.isEmpty)
        }
    }

    @Test(arguments: versions)
    func `an event that the held topic refuses does not follow a later one that is held`(
        earlier: Int?, later: Int?
    ) throws {
        var shell = try shell()
        let held = shell.publish(news("a", story: "s", version: earlier, embargo(shell.wall + .seconds(600))))
        let other = shell.publish(news("b", story: "s", version: later, embargo(shell.wall + .seconds(300))))
        #expect(other.holds.count == 1)
        #expect(shell.take(try refusal(of: held)).outcomes == [.superseded])
        #expect(shell.take(try refusal(of: other)).outcomes.isEmpty)
        #expect(shell.wait(.seconds(301)).sends.map(\.text.isEmpty) == [false], "if that is refused too, it waits here")
    }

    @Test(arguments: versions)
    func `a redriven event that the held topic refuses does not follow a later one, as if it were held`(
        earlier: Int?, later: Int?
    ) throws {
        let headers = [RecordHeader(HeaderName.redrive, "1")]
        for isRefused in [false, true] {
            for hasArrived in [false, true] {
                var shell = try shell()
                let embargoed = news("a", story: "s", version: earlier, embargo(shell.wall + .seconds(600)))
                let held = shell.publish(embargoed, headers: headers)
                if !isRefused { _ = shell.store(held) }
                let live = shell.publish(news("b", story: "s", version: later))
                #expect(live.returns == ["s superseded"], "on the held topic it ends")
                let send = try #require(live.sends.first)
                if hasArrived { _ = shell.store(shell.reply(201, to: send)) }
                if isRefused { #expect(shell.take(try refusal(of: held)).outcomes == [.superseded]) }
                if !hasArrived { _ = shell.store(shell.reply(201, to: send)) }
                #expect(shell.wait(.seconds(601)).sends.isEmpty)
            }
        }
    }

    @Test func `a redriven event that waits here and cannot be held later does not follow what waited behind it`()
        throws
    {
        var shell = try shell { $0.holdsBeyond = nil }
        let embargoed = news("a", story: "s", version: 1, embargo(shell.wall + .seconds(600)))
        _ = shell.publish(embargoed, headers: [RecordHeader(HeaderName.redrive, "1")])
        #expect(shell.publish(news("b", story: "s")).sends.isEmpty, "it waits behind the redriven one")
        _ = shell.take(.holdsBeyond(.seconds(60)))
        let held = shell.take(.held([]))
        let send = try #require(held.sends.first)
        #expect(shell.take(try refusal(of: held)).outcomes == [.superseded])
        _ = shell.store(shell.reply(201, to: send))
        #expect(shell.wait(.seconds(601)).sends.isEmpty)
    }

    @Test(arguments: versions)
    func `an event that the held topic refuses does not follow what waited behind its redriven copy`(
        earlier: Int?, later: Int?
    ) throws {
        for status in [201, 400] {
            var shell = try shell()
            let held = shell.publish(news("a", story: "s", version: earlier, embargo(shell.wall + .seconds(600))))
            let redriven = shell.publish(
                news("a", story: "s", version: earlier), headers: [RecordHeader(HeaderName.redrive, "1")])
            let copy = try #require(redriven.sends.first)
            #expect(shell.publish(news("b", story: "s", version: later)).sends.isEmpty, "it waits behind the copy")
            let refused = shell.take(try refusal(of: held))
            #expect(refused.outcomes == [.superseded])
            _ = shell.store(refused)
            let reply = shell.reply(status, to: copy)
            let next = try #require((reply + shell.store(reply)).sends.first)
            _ = shell.store(shell.reply(201, to: next))
            #expect(shell.wait(.seconds(601)).sends.isEmpty)
            #expect(shell.engine.counts.records == 0 && shell.engine.counts.stories == 0)
        }
    }

    @Test(arguments: [nil, 1])
    func `an event that the held topic refuses follows a copy of itself that fails`(version: Int?) throws {
        var shell = try shell()
        let held = shell.publish(news("a", story: "s", version: version, embargo(shell.wall + .seconds(600))))
        let copy = try #require(shell.publish(news("a", story: "s", version: version)).sends.first)
        #expect(shell.take(try refusal(of: held)).outcomes.isEmpty, "it waits for the end of its copy")
        let rejected = shell.reply(400, to: copy)
        #expect(rejected.outcomes == [.rejected])
        _ = shell.store(rejected)
        #expect(shell.wait(.seconds(601)).sends.count == 1)
    }

    @Test func `an event that the held topic refuses follows a later one for single readers`() throws {
        var shell = try shell()
        let held = shell.publish(news("a", story: "s", embargo(shell.wall + .seconds(600))))
        let send = try #require(shell.publish(news("b", story: "s", #","users":["ann"]"#)).sends.first)
        #expect(shell.take(try refusal(of: held)).outcomes.isEmpty)
        _ = shell.store(shell.reply(201, to: send))
        #expect(shell.wait(.seconds(601)).sends.count == 1)
    }

    @Test(arguments: versions)
    func `without a held topic, a later event ends one that is under embargo`(earlier: Int?, later: Int?) throws {
        for seconds in [nil, 300, 900] {
            var shell = try shell { $0.holdsBeyond = nil }
            _ = shell.publish(news("a", story: "s", version: earlier, embargo(shell.wall + .seconds(600))))
            let due = seconds.map { embargo(shell.wall + .seconds($0)) } ?? ""
            #expect(shell.publish(news("b", story: "s", version: later, due)).outcomes == [.superseded])
            #expect(shell.wait(.seconds(901)).sends.count == (seconds == nil ? 0 : 1))
        }
    }

    /// The embargoed event waits behind one in flight while the later one arrives.
    @Test(arguments: versions)
    func `without a held topic, an embargoed event that reaches its turn gives way to a later one`(
        earlier: Int?, later: Int?
    ) throws {
        for seconds in [nil, 300, 900] {
            var shell = try shell { $0.holdsBeyond = nil }
            let first = try #require(shell.publish(news("x", story: "s")).sends.first)
            let due = seconds.map { embargo(shell.wall + .seconds($0)) } ?? ""
            let waiting = shell.publish(
                news("a", story: "s", version: earlier, embargo(shell.wall + .seconds(600))),
                news("b", story: "s", version: later, due))
            let accepted = shell.reply(201, to: first)
            let ended = waiting + accepted + shell.store(accepted)
            #expect(Set(ended.outcomes) == [.accepted, .superseded] && ended.outcomes.count == 2)
            let sends = ended.sends + shell.wait(.seconds((seconds ?? 0) + 1)).sends
            #expect(sends.map { $0.text.contains("headline of b") } == [true])
            for send in sends { _ = shell.store(shell.reply(201, to: send)) }
            #expect(shell.wait(.seconds(901)).sends.isEmpty && shell.engine.counts.stories == 0)
        }
    }

    @Test(arguments: [201, 400])
    func `an embargoed event gives way to a second copy of an earlier event only if that is sent`(status: Int) throws {
        var shell = try shell { $0.holdsBeyond = nil }
        let first = try #require(shell.publish(news("x", story: "s")).sends.first)
        _ = shell.publish(news("a", story: "s", embargo(shell.wall + .seconds(600))), news("x", story: "s"))
        let reply = shell.reply(status, to: first)
        let ended = reply + shell.store(reply)
        #expect(ended.outcomes == (status == 201 ? [.accepted] : [.rejected, .superseded]))
        let sends = ended.sends + shell.wait(.seconds(601)).sends
        #expect(sends.map { $0.text.contains("headline of a") } == [status == 201])
    }

    @Test func `an event that was restored to its lane gives way to a later one that is held`() throws {
        var shell = try shell()
        _ = shell.publish(news("x"))
        _ = shell.store(shell.publish(news("b", story: "s", embargo(shell.wall + .seconds(600)))))
        let headers = [RecordHeader(HeaderName.restored, "1"), RecordHeader(HeaderName.heldFrom, "news/0/0")]
        let restored = shell.publish(
            news("a", story: "s", embargo(shell.wall + .seconds(300))), headers: headers)
        #expect(restored.outcomes == [.superseded])
    }

    @Test func `an event that was restored twice does not give way to its own copy`() throws {
        var shell = try shell()
        _ = shell.publish(news("x"))
        let json = news("a", story: "s", embargo(shell.wall + .seconds(600)))
        let headers = [RecordHeader(HeaderName.restored, "1"), RecordHeader(HeaderName.heldFrom, "news/0/0")]
        #expect(shell.store(shell.publish(json, headers: headers)).outcomes == [.held])
        #expect(!shell.publish(json, headers: headers).outcomes.contains(.superseded))
    }

    @Test func `after a crash, an event under embargo does not follow a later one that was accepted`() throws {
        var shell = try TestShell { $0.holdsBeyond = nil }
        let first = shell.record(news("a", story: "s", embargo(shell.wall + .seconds(600))))
        let second = shell.record(news("b", story: "s"))
        let accepted = LedgerEntry(
            offset: 0, source: .init(partition: TestShell.source, offset: second.offset), platform: .template,
            outcome: .accepted, identity: RecordIdentity(of: second), eventID: "b", version: nil, story: "s")
        _ = shell.assign(ledger: [accepted], end: 1)
        let read = shell.take(.records(TestShell.live, TestShell.first, TestShell.source, [first, second]))
        #expect(read.outcomes == [.superseded] && shell.engine.counts.stories == 0)
        #expect(shell.wait(.seconds(601)).sends.isEmpty)
    }
}
