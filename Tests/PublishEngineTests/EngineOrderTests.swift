import EditorialControl
import KafkaModel
import NewsModel
import NotificationHub
import PublishEngine
import Testing

/// Recalls in force on the control topic.
struct EngineOrderTests {
    private static let backfill = LaneID(1)
    private static let archive = TopicPartition(topic: "archive", partition: 0)

    /// Two lanes, one connection.
    private func twoLanes() throws -> TestShell {
        var shell = try TestShell {
            $0.connections = 1
            $0.lanes.append(LaneSettings(name: "backfill", topics: ["archive"]))
        }
        _ = shell.assign()
        _ = shell.assign([Self.archive], lane: Self.backfill)
        return shell
    }

    @Test func `a recall ends what waits in every lane, and awaits what is in flight`() throws {
        var shell = try twoLanes()
        let sent = shell.publish(news("a", story: "s"))
        _ = shell.publish(news("b", story: "s"), news("other"))
        _ = shell.publish(news("c", story: "s"), lane: Self.backfill, partition: Self.archive)
        _ = shell.publish(
            news("d", story: "s", #","embargoUntil":"\#(shell.wall + .seconds(600))""#), lane: Self.backfill,
            partition: Self.archive)
        let recalled = shell.take(.orders([.recall("s", "O7")]))
        #expect(recalled.applied == [AppliedOrder(order: "O7", waiting: 3, inFlight: 1)])
        #expect(recalled.outcomes == [.canceled, .canceled, .canceled])
        #expect(recalled.endings.allSatisfy { $0.result.error?.code == "recalled" })
        #expect(recalled.endings.allSatisfy { $0.result.error?.detail.contains("O7") == true })
        let replied = shell.reply(201, to: try #require(sent.sends.first))
        #expect(replied.endings.first?.result.afterRecall == true)
        #expect(replied.sends.map(\.text).count { $0.contains("headline of other") } == 1)
        #expect(shell.wait(.seconds(700)).sends.isEmpty)
    }

    @Test func `a retry that waits is recalled as what is known of it`() throws {
        for (status, outcome) in [(503, Outcome.canceled), (504, .unknown)] {
            var shell = try TestShell()
            _ = shell.assign()
            let sent = shell.publish(news("a", story: "s"))
            _ = shell.reply(status, to: try #require(sent.sends.first))
            let recalled = shell.take(.orders([.recall("s")]))
            #expect(recalled.outcomes == [outcome])
            #expect(recalled.endings.first?.result.afterRecall == false, "its request came before the recall")
            #expect(shell.wait(.seconds(300)).sends.isEmpty)
        }
    }

    @Test(
        arguments: [
            (.replied(HubReply(status: 201)), .accepted, true),
            (.replied(HubReply(status: 503)), .canceled, false),
            (.replied(HubReply(status: 504)), .unknown, true),
            (.unknown(SendFailure(.requestTimeout, "timeout")), .unknown, true),
            (.notSent(SendFailure(.closedEarly, "closed")), .canceled, false),
            (.notSent(SendFailure(.connectRefused, "refused")), .canceled, false),
            (.replied(HubReply(status: 400)), .rejected, false),
        ] as [(SendResult, Outcome, Bool)])
    func `a delivery in flight at its story's recall keeps its outcome and is never retried`(
        reply: SendResult, outcome: Outcome, afterRecall: Bool
    ) throws {
        var shell = try TestShell()
        _ = shell.assign()
        let sent = shell.publish(news("a", story: "s"))
        #expect(shell.take(.orders([.recall("s")])).applied.first?.inFlight == 1)
        let ended = shell.take(.reply(reply, to: try #require(sent.sends.first).id))
        #expect(ended.outcomes == [outcome])
        #expect(ended.endings.first?.result.afterRecall == afterRecall)
        #expect(ended.sends.isEmpty)
        #expect(shell.wait(.seconds(300)).sends.isEmpty)
    }

    @Test func `a recall counts requests whose outcome is not on the results topic yet as in flight`() throws {
        let cases = [(201, 1, 0), (504, 1, 1), (503, 0, 1), (400, 0, 0)]
        for (status, inFlight, waiting) in cases {
            var shell = try TestShell()
            _ = shell.assign()
            let sent = shell.publish(news("a", story: "s"), news("other", story: "t"))
            let settled = shell.reply(status, to: try #require(sent.sends.first))
            let recalled = shell.take(.orders([.recall("s")]))
            #expect(
                recalled.applied == [AppliedOrder(order: "O1", waiting: waiting, inFlight: inFlight)], "\(status)")
            _ = shell.store(settled + recalled)
            let again = shell.take(.orders([.recall("s", "O2")]))
            #expect(again.applied == [AppliedOrder(order: "O2")], "\(status): its result is stored")
        }
    }

    @Test func `a recall says whether it ends an event on the held topic`() throws {
        var shell = try TestShell()
        _ = shell.assign()
        _ = shell.take(.held([HeldStory(story: "s", isHeld: true)]))
        #expect(shell.take(.orders([.recall("s", "O1"), .recall("t", "O2")])).applied.map(\.held) == [1, 0])
    }

    @Test
    func `an event's recall is reported under its order, and its results name that order`()
        throws
    {
        var shell = try TestShell {
            $0.awaitsOrders = true
            $0.connections = 1
        }
        _ = shell.assign()
        _ = shell.take(.ordersKnown(true))
        _ = shell.take(.held([HeldStory(story: "s", isHeld: true)]))
        _ = shell.publish(news("a", story: "s"))
        _ = shell.publish(news("b", story: "s"), news("c", story: "s"))
        let recall = shell.publish(news("k", story: "s", status: "canceled"))
        let given = try #require(recall.compactMap { if case .recall(let given) = $0 { given } else { nil } }.first)
        #expect(recall.outcomes == [.canceled, .canceled])
        let later = shell.publish(news("d", story: "s"))
        #expect(
            (recall + later).endings.allSatisfy {
                $0.result.error?.detail == "the story was recalled by order \(given.orderID)"
            })
        let stands = shell.take(.orders([.recall("s", given.orderID)]))
        #expect(stands.applied == [AppliedOrder(order: given.orderID, waiting: 2, inFlight: 1, held: 1)])
        #expect(shell.take(.orders([.recall("s", "O2")])).applied.first?.waiting == 0, "it is told once")
    }

    @Test func `later arrivals of a recalled story do not leave, in any lane and by any way, until it is lifted`()
        throws
    {
        var shell = try twoLanes()
        _ = shell.take(.orders([.recall("s")]))
        #expect(shell.publish(news("a", story: "s")).outcomes == [.canceled])
        #expect(
            shell.publish(news("b", story: "s"), lane: Self.backfill, partition: Self.archive).outcomes == [.canceled])
        let redriven = [RecordHeader(HeaderName.redrive, "1")]
        #expect(shell.publish(news("a", story: "s"), headers: redriven).outcomes == [.canceled])
        #expect(shell.publish(news("a", story: "s")).outcomes == [.canceled])
        // A new partition assignment changes nothing.
        _ = shell.assign(generation: Generation(2))
        #expect(shell.publish(news("c", story: "s"), generation: Generation(2)).outcomes == [.canceled])
        let lifted = shell.take(.orders([.lifted(.recall(story: "s"))]))
        #expect(lifted.applied == [AppliedOrder(order: "recall/story/s")])
        #expect(shell.publish(news("a", story: "s"), generation: Generation(2)).sends.count == 1)
    }

    @Test func `an event's recall ends with the order that it was made`() throws {
        var shell = try TestShell { $0.awaitsOrders = true }
        _ = shell.assign()
        _ = shell.take(.ordersKnown(true))
        let sent = shell.publish(news("a", story: "s"))
        let recall = shell.publish(news("b", story: "s", status: "canceled"))
        #expect(recall.recalls == ["s"])
        #expect(recall.outcomes.isEmpty, "its result waits for the order")
        #expect(shell.reply(201, to: try #require(sent.sends.first)).endings.first?.result.afterRecall == true)
        #expect(shell.publish(news("c", story: "s")).outcomes == [.canceled], "it holds at once")
        #expect(shell.take(.orders([.recall("s")])).outcomes.isEmpty)
        let stored = shell.take(.recallsSettled(["s"]))
        #expect(stored.outcomes == [.canceled])
        #expect(stored.endings.first?.result.eventID == "b")
        _ = shell.take(.orders([.lifted(.recall(story: "s"))]))
        #expect(shell.publish(news("d", story: "s")).sends.count == 1)
    }

    @Test(arguments: [true, false])
    func `an event's recall that was reported before holds after a restart, unless its order was lifted`(
        hasControl: Bool
    ) throws {
        var shell = try TestShell { $0.awaitsOrders = hasControl }
        let reported = LedgerEntry(
            offset: 0, source: .init(partition: TestShell.source, offset: 0), platform: .template, outcome: .canceled,
            identity: RecordIdentity(eventID: "a"), eventID: "a")
        _ = shell.assign(ledger: [reported], end: 1)
        let known =
            shell.take(.ordersKnown(true))
            + shell.publish(news("a", story: "s", status: "canceled"), news("b", story: "s"))
        #expect(known.recalls == (hasControl ? [] : ["s"]))
        #expect(known.sends.count == (hasControl ? 1 : 0))
    }

    @Test func `a recall that was reported for one platform before a crash is reported for the others at once`() throws
    {
        var shell = try TestShell {
            $0.awaitsOrders = true
            $0.platforms = [.apple, .fcmv1]
        }
        let reported = LedgerEntry(
            offset: 0, source: .init(partition: TestShell.source, offset: 0), platform: .apple, outcome: .canceled,
            identity: RecordIdentity(eventID: "a"), eventID: "a")
        _ = shell.assign(ledger: [reported], end: 1)
        let known = shell.take(.ordersKnown(true)) + shell.publish(news("a", story: "s", status: "canceled"))
        #expect(known.recalls == [], "its order stood before the report")
        #expect(known.outcomes == [.canceled])
    }

    @Test func `a recall whose order was not stored before a crash is given again`() throws {
        var shell = try TestShell { $0.awaitsOrders = true }
        _ = shell.assign()
        _ = shell.take(.ordersKnown(true))
        let recall = shell.publish(news("a", story: "s", status: "canceled"))
        #expect(recall.recalls == ["s"])
        #expect(shell.store(recall).commits.isEmpty, "its record is not done")
        #expect(shell.wait(.seconds(10)).commits.isEmpty)
        #expect(shell.status.waits.contains { $0.reason == .control && $0.isAlarming })
        let stored = shell.store(shell.take(.recallsSettled(["s"]))) + shell.wait(.seconds(1))
        #expect(stored.commits.flatMap(\.self).contains(PartitionOffset(TestShell.source, 1)))
    }

    @Test func `an event's recall that finds no room among the orders holds in this process`() throws {
        var shell = try TestShell { $0.awaitsOrders = true }
        _ = shell.assign()
        _ = shell.take(.ordersKnown(true))
        _ = shell.publish(news("a", story: "s", status: "canceled"))
        _ = shell.take(.orders((0..<StandingOrders.capacity).map { .recall("other \($0)", "O\($0)") }))
        _ = shell.take(.orders([.recall("s")]))
        #expect(shell.take(.recallsSettled(["s"])).outcomes == [.canceled])
        #expect(shell.publish(news("c", story: "s")).outcomes == [.canceled])
        #expect(shell.publish(news("e", story: "other 9999")).outcomes == [.canceled])
        _ = shell.take(.orders([.lifted(.recall(story: "s"))]))
        #expect(shell.publish(news("d", story: "s")).sends.count == 1)
    }

    @Test func `without a control topic to keep it, an event's recall holds as long as the process`() throws {
        var shell = try TestShell { $0.awaitsOrders = true }
        let reported = LedgerEntry(
            offset: 0, source: .init(partition: TestShell.source, offset: 0), platform: .template, outcome: .canceled,
            identity: RecordIdentity(eventID: "a"), eventID: "a")
        _ = shell.take(.keepsRecalls(false)) + shell.take(.ordersKnown(true))
        _ = shell.assign(ledger: [reported], end: 1)
        let actions = shell.publish(news("a", story: "s", status: "canceled"), news("b", story: "s"))
        #expect(actions.outcomes == [.canceled])
        #expect(shell.publish(news("c", story: "t", status: "canceled")).outcomes == [.canceled], "nothing to wait for")
    }

    @Test func `the replacement of a recalled story leaves, for the order that asked for it only`() throws {
        var shell = try TestShell()
        _ = shell.assign()
        _ = shell.take(.orders([.recall("s", "O1")]))
        func replacement(_ order: String) -> [RecordHeader] { [RecordHeader(HeaderName.replacement, order)] }
        #expect(shell.publish(news("r1", story: "s"), headers: replacement("O2")).outcomes == [.canceled])
        let sent = shell.publish(news("r2", story: "s"), headers: replacement("O1"))
        #expect(sent.sends.count == 1)
        #expect(shell.take(.orders([.recall("s", "O1")])).applied.first?.inFlight == 0)
        #expect(shell.reply(201, to: try #require(sent.sends.first)).endings.first?.result.afterRecall == false)
    }

    /// It waits behind a stop, or is read only after the recall has ended.
    @Test(arguments: [true, false], [OrderChange.lifted(.recall(story: "s")), .recall("s", "O2")])
    func `a replacement does not leave after its recall was lifted or replaced`(isRead: Bool, end: OrderChange) throws {
        var shell = try TestShell()
        _ = shell.assign()
        _ = shell.take(.orders([.recall("s", "O1"), .stop(.hub)]))
        let header = [RecordHeader(HeaderName.replacement, "O1")]
        var actions: [Action] = []
        if isRead { actions += shell.publish(news("r", story: "s"), headers: header) }
        actions += shell.take(.orders([end]))
        if !isRead { actions += shell.publish(news("r", story: "s"), headers: header) }
        actions += shell.take(.orders([.resume(.hub)]))
        #expect(actions.outcomes == [.canceled] && actions.sends.isEmpty)
    }

    @Test func `a record that names its platforms is sent to no other`() throws {
        var shell = try TestShell { $0.platforms = [.apple, .fcmv1, .windows] }
        _ = shell.assign()
        func platforms(_ names: String) -> [Platform] {
            shell.publish(news(names), headers: [RecordHeader(HeaderName.platform, names)]).sends.map(\.request.format)
        }
        #expect(platforms("windows,apple") == [.apple, .windows])
        #expect(platforms("adm,fcmv1") == [.fcmv1])
        #expect(platforms("adm") == [.apple, .fcmv1, .windows])
    }

    @Test func `without orders in force nothing is sent before they are known, nor once they are no longer`() throws {
        var shell = try TestShell { $0.awaitsOrders = true }
        _ = shell.assign()
        #expect(shell.publish(news("a"), news("b", story: "s")).sends.isEmpty)
        #expect(shell.wait(.seconds(20)).sends.isEmpty)
        let wait = try #require(shell.status.waits.first { $0.reason == .control })
        #expect(wait.isAlarming)
        #expect(shell.now - wait.since >= .seconds(20))
        #expect(shell.engine.limiter(at: Moment(steady: shell.now, wall: shell.wall)) == .control)
        #expect(shell.take(.orders([.recall("s")])).outcomes == [.canceled])
        let sent = shell.take(.ordersKnown(true)).sends
        #expect(sent.count == 1)
        #expect(!shell.status.waits.contains { $0.reason == .control })
        _ = shell.take(.ordersKnown(false))
        #expect(shell.reply(503, to: try #require(sent.first)).sends.isEmpty)
        #expect(shell.wait(.seconds(60)).sends.isEmpty)
        #expect(shell.take(.ordersKnown(true)).sends.count == 1)
    }

    @Test func `places of recalled deliveries leave the queue once the orders are known`() throws {
        var shell = try TestShell { $0.awaitsOrders = true }
        _ = shell.assign()
        #expect(shell.publish(news("a", story: "s")).sends.isEmpty)
        #expect(shell.take(.orders([.recall("s")])).outcomes == [.canceled])
        #expect(shell.take(.ordersKnown(true)).sends.isEmpty)
        #expect(shell.engine.counts.ready == 0)
    }

    @Test func `an event that repeats a canceled item of the ledger does not trap`() throws {
        var shell = try TestShell()
        let reported = LedgerEntry(
            offset: 0, source: .init(partition: TestShell.source, offset: 0), platform: .template, outcome: .canceled,
            identity: RecordIdentity(eventID: "a"), eventID: "a")
        _ = shell.assign(ledger: [reported], end: 1)
        #expect(shell.publish(news("a", story: "s", status: "canceled")).recalls == ["s"])
    }
}
