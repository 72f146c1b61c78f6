import EditorialControl
import KafkaModel
import NewsModel
import NotificationHub
import PublishEngine
import Testing

struct EngineRecallTests {
    @Test func `a recall in another spelling of Unicode ends what waits`() throws {
        var shell = try TestShell { $0.connections = 1 }
        _ = shell.assign()
        let first = shell.publish(news("first"))
        #expect(shell.publish(news("s1", story: "wahl-mu\u{308}nchen")).sends.isEmpty)
        _ = shell.take(.orders([.recall("wahl-m\u{FC}nchen")]))
        let next = shell.reply(201, to: first.sends[0])
        #expect(next.sends.isEmpty)
        #expect(next.outcomes == [.accepted, .canceled])
    }

    @Test func `a recalled delivery in flight is never retried`() throws {
        var shell = try TestShell()
        _ = shell.assign()
        let sent = shell.publish(news("s1", story: "s"))
        _ = shell.publish(news("s2", story: "s", status: "canceled"))
        let refused = shell.reply(503, to: sent.sends[0])
        #expect(refused.outcomes == [.canceled])
        #expect(refused.sends.isEmpty)
        #expect(shell.wait(.seconds(300)).sends.isEmpty)
    }

    @Test func `a delivery that the hub accepted meanwhile ends as accepted, and says that the recall came before`()
        throws
    {
        var shell = try TestShell()
        _ = shell.assign()
        let sent = shell.publish(news("s1", story: "s"))
        _ = shell.publish(news("s2", story: "s", status: "canceled"))
        let result = try #require(shell.reply(201, to: sent.sends[0]).endings.first?.result)
        #expect(result.outcome == .accepted)
        #expect(result.afterRecall)
    }

    @Test(arguments: [true, false])
    func `a delivery that may be on phones does not end as canceled`(isUnderWay: Bool) throws {
        var shell = try TestShell()
        _ = shell.assign()
        let sent = shell.publish(news("s1", story: "s"))
        let unanswered = Input.reply(.replied(HubReply(status: 504)), to: sent.sends[0].id)
        var actions: [Action] = []
        if !isUnderWay { actions += shell.take(unanswered) }
        actions += shell.publish(news("s2", story: "s", status: "canceled"))
        if isUnderWay { actions += shell.take(unanswered) }
        let result = try #require(actions.endings.first { $0.result.eventID == "s1" }?.result)
        #expect(result.outcome == .unknown)
        #expect(result.error?.code == "recalled")
    }

    @Test func `a delivery that may be on phones does not end as superseded`() throws {
        var shell = try TestShell()
        _ = shell.assign()
        let sent = shell.publish(news("s1", story: "s", version: 1))
        _ = shell.reply(500, to: sent.sends[0])
        let result = try #require(shell.publish(news("s2", story: "s", version: 2)).endings.first?.result)
        #expect(result.outcome == .unknown)
        #expect(result.error?.code == "superseded")
    }

    @Test func `a newer version ends the retries of an older one in flight`() throws {
        var shell = try TestShell()
        _ = shell.assign()
        let sent = shell.publish(news("s1", story: "s", version: 1))
        _ = shell.publish(news("s2", story: "s", version: 2))
        let refused = shell.reply(503, to: sent.sends[0])
        #expect(refused.outcomes == [.superseded])
        #expect(refused.sends.map { $0.text.contains("headline of s2") } == [true])
    }

    @Test func `a recall holds in every lane, and for later records`() throws {
        let backfill = LaneID(1)
        let archive = TopicPartition(topic: "archive", partition: 0)
        var shell = try TestShell {
            $0.connections = 1
            $0.lanes.append(LaneSettings(name: "backfill", topics: ["archive"]))
        }
        _ = shell.assign()
        _ = shell.assign([archive], lane: backfill)
        let first = shell.publish(news("x"))
        _ = shell.publish(news("s1", story: "s"), lane: backfill, partition: archive)
        let recall = shell.publish(news("s2", story: "s", status: "canceled"))
        #expect(recall.endings.map(\.result.eventID) == ["s1", "s2"])
        func laneIsFirst(_ actions: [Action], _ story: String) -> [Bool] {
            actions.compactMap {
                if case .recall(let recall) = $0, recall.story == story { recall.isOfFirstLane } else { nil }
            }
        }
        #expect(laneIsFirst(recall, "s") == [true])
        let older = shell.publish(news("o", story: "old", status: "canceled"), lane: backfill, partition: archive)
        #expect(laneIsFirst(older, "old") == [false])
        #expect(shell.publish(news("s3", story: "s"), lane: backfill, partition: archive).outcomes == [.canceled])
        #expect(shell.reply(201, to: first.sends[0]).sends.isEmpty)
    }

    @Test func `a recall on another shard holds here, under the id of the order that is made of it`() throws {
        var shell = try TestShell { $0.connections = 1 }
        _ = shell.assign()
        let recall = EventRecall(
            story: "s", eventID: "k", source: .init(partition: TestShell.source, offset: 7), at: shell.wall)
        _ = shell.publish(news("x"), news("s0", story: "s"))
        let ended = shell.take(.recalled(recall)) + shell.publish(news("s1", story: "s"))
        #expect(ended.outcomes == [.canceled, .canceled])
        #expect(ended.endings.allSatisfy { $0.result.error?.detail.hasSuffix("by order \(recall.orderID)") == true })
    }

    @Test(arguments: [500, 503, 400])
    func `an editor's second try after an ending without acceptance is sent`(status: Int) throws {
        var shell = try TestShell {
            $0.lanes[0].onUnknown = .giveUp
            $0.retry.attempts = 1
        }
        _ = shell.assign()
        let first = shell.publish(news("a", version: 1))
        let ended = shell.reply(status, to: first.sends[0])
        #expect(ended.outcomes != [.accepted])
        _ = shell.store(ended)
        #expect(shell.publish(news("a", version: 1)).sends.count == 1)
    }

    @Test func `a redriven record is sent although its id is known`() throws {
        var shell = try TestShell()
        _ = shell.assign()
        let first = shell.publish(news("a"))
        _ = shell.store(shell.reply(201, to: first.sends[0]))
        let redriven = shell.record(news("a"), headers: [RecordHeader(HeaderName.redrive, "1")])
        #expect(shell.take(.records(TestShell.live, TestShell.first, TestShell.source, [redriven])).sends.count == 1)
    }

    @Test func `a recall that was reported before a restart still holds behind it`() throws {
        var shell = try TestShell()
        let recall = LedgerEntry(
            offset: 0, source: .init(partition: TestShell.source, offset: 1), platform: .template, outcome: .canceled,
            identity: RecordIdentity(eventID: "s2"), eventID: "s2")
        _ = shell.assign(ledger: [recall], end: 1)
        let actions = shell.publish(news("s1", story: "s"), news("s2", story: "s", status: "canceled"))
        #expect(actions.sends.isEmpty)
        #expect(actions.outcomes == [.canceled])
    }
}
