import EditorialControl
import KafkaModel
import NewsModel
import NotificationHub
import PublishEngine
import Testing

/// Editors stop the hub, a lane, a category, a feed or a run: a gate before sending, behind which nothing is lost.
struct EngineGateTests {
    private static let backfill = LaneID(1)
    private static let archive = TopicPartition(topic: "archive", partition: 0)

    /// As its name, an alias, or its tag.
    @Test(arguments: [
        CategoryTable.Category(name: "WORLD"), .init(name: "News", names: ["world"]), .init(name: "News", tag: "World"),
    ])
    func `a stop holds for a category that was renamed since`(renamed: CategoryTable.Category) throws {
        var shell = try TestShell()
        _ = shell.assign()
        _ = shell.take(.orders([.stop(.category("World"))]))
        let rules = try ContentRules(table: CategoryTable([renamed, .init(name: "Sports")]))
        _ = shell.take(.reload(Reload(rate: nil, rules: rules, floodGuard: .init())))
        let event = #"{"id":"a","headline":"h","category":"\#(renamed.names.first ?? renamed.name)"}"#
        #expect(shell.publish(event).sends.isEmpty)
        #expect(shell.take(.orders([.resume(.category("World"))])).sends.count == 1)
    }

    @Test func `a stop by a new name holds for events that were read under the former one`() throws {
        var shell = try TestShell { $0.connections = 1 }
        _ = shell.assign()
        let sent = shell.publish(news("other", category: "Sports"), news("a"))
        let renamed = CategoryTable.Category(name: "Planet", names: ["World"])
        let rules = try ContentRules(table: CategoryTable([renamed, .init(name: "Sports")]))
        _ = shell.take(.reload(Reload(rate: nil, rules: rules, floodGuard: .init())))
        #expect(shell.take(.orders([.stop(.category("Planet"))])).applied.first?.waiting == 1)
        #expect(shell.reply(201, to: try #require(sent.sends.first)).sends.isEmpty)
        #expect(shell.take(.orders([.resume(.category("Planet"))])).sends.count == 1)
    }

    @Test func `a stop of the hub lets nothing out, retries included, and nothing is lost or sent twice`() throws {
        var shell = try TestShell { $0.connections = 2 }
        _ = shell.assign()
        let sent = shell.publish(news("a"), news("b"), news("c"), news("d"))
        #expect(sent.sends.count == 2)
        let stopped = shell.take(.orders([.stop(.hub, "S9")]))
        #expect(stopped.applied == [AppliedOrder(order: "S9", waiting: 2, inFlight: 2)])
        #expect(shell.reply(201, to: sent.sends[0]).sends.isEmpty)
        #expect(shell.reply(503, to: sent.sends[1]).sends.isEmpty)
        let quiet = shell.wait(.seconds(120)) + shell.publish(news("e"))
        #expect(quiet.sends.isEmpty)
        #expect(quiet.outcomes.isEmpty)
        #expect(shell.engine.limiter(at: Moment(steady: shell.now, wall: shell.wall)) == .stopped)
        let wait = try #require(shell.status.waits.first { $0.reason == .stopped })
        #expect(wait.isAlarming)
        #expect(wait.remedy.contains("resume --config FILE hub"))
        #expect(shell.status.lanes[0].isStopped)
        var all = shell.take(.orders([.resume(.hub)]))
        #expect(all.applied.map(\.order) == ["stop/hub"])
        var answered = 0
        while answered < all.sends.count {
            let next = all.sends[answered]
            answered += 1
            all += shell.reply(201, to: next)
        }
        #expect(Set(all.sends.map(\.text)).count == 4)
        #expect(all.outcomes == [.accepted, .accepted, .accepted, .accepted])
    }

    @Test func `a stopped engine does not repeat its alarms`() throws {
        var shell = try TestShell()
        _ = shell.assign()
        let sent = shell.publish(news("a"), news("b"))
        for send in sent.sends {
            _ = shell.take(.reply(.notSent(SendFailure(.connectRefused, "refused")), to: send.id))
        }
        #expect(shell.engine.halt != nil)
        _ = shell.take(.orders([.stop(.hub)]))
        #expect(shell.wait(.seconds(300)).sends.isEmpty, "not even a probe leaves")
        #expect((shell.engine.wakeAt ?? .distantFuture) > shell.now + .milliseconds(500))
        #expect(shell.take(.orders([.resume(.hub)])).sends.count == 1)
    }

    @Test func `a stop of a lane holds back that lane only, and its recalls still count`() throws {
        var shell = try TestShell { $0.lanes.append(LaneSettings(name: "backfill", topics: ["archive"])) }
        _ = shell.assign()
        _ = shell.assign([Self.archive], lane: Self.backfill)
        _ = shell.take(.orders([.stop(.lane("backfill"))]))
        let held = shell.publish(
            news("a"), news("b", story: "s"), news("k", story: "s", status: "canceled"), lane: Self.backfill,
            partition: Self.archive)
        #expect(held.sends.isEmpty)
        #expect(held.recalls == ["s"])
        #expect(shell.publish(news("c")).sends.count == 1)
        #expect(shell.publish(news("d", story: "s")).outcomes == [.canceled])
        let wait = try #require(shell.status.waits.first { $0.reason == .stopped })
        #expect(wait.lane == Self.backfill)
        #expect(shell.take(.orders([.resume(.lane("backfill"))])).sends.count == 1)
        #expect(!shell.status.waits.contains { $0.reason == .stopped })
    }

    @Test func `a flooded lane that is stopped is not probed`() throws {
        var shell = try TestShell {
            $0.floodGuard = FloodGuard.Settings(sharePercent: 50, events: 4)
            $0.connections = 1
        }
        _ = shell.assign()
        var sent = shell.publish(news("a"), news("b"), news("c"), news("d")).sends
        for _ in 0..<2 { sent = shell.reply(400, to: sent[0]).sends }
        #expect(shell.status.lanes[0].flood != nil)
        _ = shell.take(.orders([.stop(.lane("live"))]))
        #expect(shell.wait(.seconds(300)).sends.isEmpty)
        #expect(shell.take(.orders([.resume(.lane("live"))])).sends.count == 1)
    }

    /// Gates, and an event that stands before each.
    private static let gates: [(gate: Gate, category: String, headers: [RecordHeader])] = [
        (.category("world"), "World", []),
        (.category("WORLD"), "international", []),
        (.feed("dpa"), "World", [RecordHeader(HeaderName.feed, "dpa")]),
        (.run("r1"), "World", [RecordHeader(HeaderName.run, "r1")]),
    ]

    @Test(arguments: gates)
    func `stopped deliveries wait aside in order while other news passes`(
        gate: Gate, category: String, headers: [RecordHeader]
    ) throws {
        var shell = try TestShell { $0.connections = 1 }
        _ = shell.assign()
        let busy = shell.publish(news("x", category: "Sports"))
        _ = shell.publish(news("a", story: "s", category: category), headers: headers)
        _ = shell.publish(news("b", story: "s", category: category), headers: headers)
        _ = shell.publish(news("c", category: category), headers: headers)
        #expect(shell.take(.orders([.stop(gate)])).applied == [AppliedOrder(order: "S1", waiting: 3)])
        _ = shell.publish(news("d", category: "Sports"))
        let passing = shell.reply(201, to: try #require(busy.sends.first))
        #expect(passing.sends.map { $0.text.contains("headline of d") } == [true])
        #expect(shell.reply(201, to: try #require(passing.sends.first)).sends.isEmpty)
        #expect(shell.status.lanes[0].stopped == 2, "the heads of two stories")
        #expect(shell.engine.limiter(at: Moment(steady: shell.now, wall: shell.wall)) == .stopped)
        let wait = try #require(shell.status.waits.first { $0.reason == .stopped })
        #expect(wait.remedy.contains(gate.word))
        var all = shell.take(.orders([.resume(gate)]))
        #expect(all.applied == [AppliedOrder(order: "stop/\(gate.path)", waiting: 2)])
        var texts: [String] = []
        while let next = all.sends.first {
            texts.append(next.text)
            all = shell.reply(201, to: next)
        }
        let order = texts.map { text in ["a", "b", "c"].first { text.contains("headline of \($0)") } }
        #expect(order == ["a", "c", "b"], "a story's second waits for its first")
    }

    @Test func `an event of several categories is stopped if one of them is`() throws {
        var shell = try TestShell()
        _ = shell.assign()
        _ = shell.take(.orders([.stop(.category("Sports"))]))
        #expect(shell.publish(news("a", #","categories":["World","Sports"]"#)).sends.isEmpty)
        #expect(shell.publish(news("b")).sends.count == 1)
        #expect(shell.take(.orders([.resume(.category("Sports"))])).sends.count == 1)
    }

    @Test func `an event before two gates leaves when both are open`() throws {
        var shell = try TestShell()
        _ = shell.assign()
        _ = shell.take(.orders([.stop(.category("World")), .stop(.feed("dpa"), "S2")]))
        #expect(shell.publish(news("a"), headers: [RecordHeader(HeaderName.feed, "dpa")]).sends.isEmpty)
        #expect(shell.take(.orders([.resume(.category("World"))])).sends.isEmpty)
        #expect(shell.take(.orders([.resume(.feed("dpa"))])).sends.count == 1)
    }

    @Test func `a recall, a newer version and an expiry reach what waits before a gate`() throws {
        var shell = try TestShell { $0.lanes[0].maxAge = .seconds(900) }
        _ = shell.assign()
        _ = shell.take(.orders([.stop(.category("World"))]))
        let waiting = shell.publish(
            news("r", story: "r"), news("v1", story: "v", version: 1), news("old"),
            news("e", #","expiresAt":"\#(shell.wall + .seconds(60))""#))
        #expect(waiting.outcomes.isEmpty && waiting.sends.isEmpty)
        #expect(shell.take(.orders([.recall("r")])).outcomes == [.canceled])
        #expect(shell.publish(news("v2", story: "v", version: 2)).outcomes == [.superseded])
        #expect(shell.wait(.seconds(61)).outcomes == [.expired])
        #expect(shell.status.lanes[0].stopped == 2)
        #expect(shell.wait(.seconds(900)).outcomes == [.expired, .expired])
        #expect(shell.take(.orders([.resume(.category("World"))])).sends.isEmpty)
    }

    @Test func `a stopped backlog is bounded by the window, and passes on when it is let go`() throws {
        var shell = try TestShell {
            $0.lanes[0].window.records = 8
            $0.connections = 1
        }
        _ = shell.assign()
        _ = shell.take(.orders([.stop(.category("World"))]))
        var all: [Action] = []
        for number in 0..<8 { all += shell.publish(news("w\(number)")) }
        #expect(all.sends.isEmpty)
        #expect(shell.status.lanes[0].buffered == 8)
        // Repeated stops and resumes must not accumulate queue entries.
        for _ in 0..<200 {
            _ = shell.take(.orders([.stop(.feed("x"), "S2")]))
            _ = shell.take(.orders([.resume(.feed("x"))]))
        }
        #expect(shell.engine.counts.delayed + shell.engine.counts.ready <= 48)
        all = shell.take(.orders([.resume(.category("World"))]))
        var texts: [String] = []
        while let next = all.sends.first {
            texts.append(next.text)
            all = shell.reply(201, to: next)
        }
        #expect(texts.count == 8)
        #expect(texts.enumerated().allSatisfy { $1.contains("headline of w\($0)") }, "in order")
    }

    @Test func `a retry that comes due before a gate waits there`() throws {
        var shell = try TestShell()
        _ = shell.assign()
        let sent = shell.publish(news("a"))
        _ = shell.take(.orders([.stop(.category("World"))]))
        _ = shell.reply(503, to: try #require(sent.sends.first))
        #expect(shell.wait(.seconds(300)).sends.isEmpty)
        #expect(shell.take(.orders([.resume(.category("World"))])).sends.count == 1)
    }

    @Test func `stopped deliveries of a revoked partition are left to the next owner`() throws {
        var shell = try TestShell()
        _ = shell.assign()
        _ = shell.take(.orders([.stop(.category("World"))]))
        _ = shell.publish(news("a"))
        let revoked =
            shell.take(.revoked(TestShell.live, TestShell.first, [TestShell.source], lost: false))
            + shell.wait(.seconds(10))
        #expect(revoked.releases == 1)
        #expect(revoked.outcomes.isEmpty)
        #expect(revoked.commits.flatMap(\.self).allSatisfy { $0.offset == 0 })
        #expect(shell.take(.orders([.resume(.category("World"))])).sends.isEmpty)
    }
}
