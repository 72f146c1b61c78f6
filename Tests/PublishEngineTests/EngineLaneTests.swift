import EditorialControl
import KafkaModel
import NewsModel
import PublishEngine
import Testing

struct EngineLaneTests {
    static let backfill = LaneID(1)
    static let archive = TopicPartition(topic: "archive", partition: 0)

    private func shell(floor: Int = 0, connections: Int = 1) throws -> TestShell {
        var shell = try TestShell { settings in
            settings.lanes.append(LaneSettings(name: "backfill", topics: ["archive"]))
            settings.lanes[1].floorPercent = floor
            settings.connections = connections
        }
        _ = shell.assign()
        _ = shell.assign([Self.archive], lane: Self.backfill)
        return shell
    }

    @Test func `a live event is sent next, whatever the backfill`() throws {
        var shell = try shell()
        let first = shell.publish(news("b0"), news("b1"), news("b2"), lane: Self.backfill, partition: Self.archive)
        _ = shell.publish(news("live"))
        let next = shell.reply(201, to: first.sends[0])
        #expect(next.sends.map { $0.text.contains("live") } == [true])
    }

    @Test func `the backfill gets its floor of the requests`() throws {
        var shell = try shell(floor: 10)
        let live = (0..<100).map { shell.record(news("l\($0)")) }
        let backfill = (0..<100).map { shell.record(news("b\($0)")) }
        var sends = shell.take(.records(TestShell.live, TestShell.first, TestShell.source, live)).sends
        _ = shell.take(.records(Self.backfill, TestShell.first, Self.archive, backfill))
        var fromBackfill = 0
        for _ in 0..<50 {
            let send = try #require(sends.first)
            if send.text.contains("headline of b") { fromBackfill += 1 }
            sends = shell.reply(201, to: send).sends
        }
        #expect((4...6).contains(fromBackfill), "\(fromBackfill) of 50")
    }

    @Test func `embargoes that end together and live news take turns, each in its order, also after a stop`() throws {
        var shell = try shell()
        let due = [RecordHeader(HeaderName.held, ReturnReason.due.rawValue)]
        let returned = (0..<6).map { shell.record(news("r\($0)"), headers: due) }
        var sends = shell.take(.records(TestShell.live, TestShell.first, TestShell.source, returned)).sends
        _ = shell.publish(news("l0"), news("l1"), news("l2"))
        var texts: [String] = []
        while let send = sends.first {
            texts.append(send.text)
            if texts.count == 3 {
                _ = shell.take(.orders([.stop(.category("World"))]))
                _ = shell.reply(201, to: send)
                sends = shell.take(.orders([.resume(.category("World"))])).sends
            } else {
                sends = shell.reply(201, to: send).sends
            }
        }
        let order = ["r0", "l0", "r1", "l1", "r2", "l2", "r3", "r4", "r5"]
        #expect(texts.count == order.count)
        for (text, id) in zip(texts, order) { #expect(text.contains("headline of \(id)"), "\(id): \(text)") }
    }

    @Test func `a paused lane waits, the other sends`() throws {
        var shell = try shell(connections: 8)
        _ = shell.take(.pause(Self.backfill))
        #expect(shell.publish(news("b"), lane: Self.backfill, partition: Self.archive).sends.isEmpty)
        #expect(shell.publish(news("a")).sends.count == 1)
        #expect(shell.take(.resume(Self.backfill)).sends.count == 1)
    }

    @Test func `no more is read than the window holds`() throws {
        var shell = try TestShell { $0.lanes[0].window = .init(records: 100, bytes: 1 << 20) }
        var granted = 0
        func count(_ actions: [Action]) {
            for case .kafka(.grant(_, let records, _)) in actions { granted += records }
        }
        count(shell.assign())
        #expect(granted == 100)
        let records = (0..<100).map { shell.record(news("e\($0)")) }
        let sent = shell.take(.records(TestShell.live, TestShell.first, TestShell.source, records))
        count(sent)
        #expect(granted == 100, "the window is full")
        for send in sent.sends { count(shell.store(shell.reply(201, to: send))) }
        #expect(granted > 100)
        #expect(granted <= 100 + sent.sends.count)
    }
}
