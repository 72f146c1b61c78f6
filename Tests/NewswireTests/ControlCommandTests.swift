import ControlIO
import EditorialControl
import Foundation
import HubServer
import KafkaIO
import KafkaModel
import NewsModel
import TestSupport
import Testing

/// The editors' five commands, on a broker in this process.
struct ControlCommandTests {
    private static let topics = [
        ("news.events", 2), ("news.results", 2), ("news.dead-letters", 2), ("news.control", 1), ("news.audit", 1),
        ("news.held", 2),
    ]

    private func room() async throws -> ProgramRoom { try await ProgramRoom(topics: Self.topics) }

    private struct Outcome: Decodable, Equatable {
        var scope: String
        var `do`: String
        var processes: Int
        var applied: Int
        var milliseconds: Int
        var missing: [String]
    }

    private func outcome(_ ended: Program.Ended) throws -> Outcome {
        try JSONDecoder().decode(Outcome.self, from: Data(ended.output.utf8))
    }

    private func write(_ room: ProgramRoom, _ records: ProducedRecord...) throws {
        let publisher = try RecordPublisher(settings: room.broker.settings(group: "test"))
        for record in records { try publisher.publish(record) }
        try publisher.flush()
    }

    @Test(arguments: [
        ["recall", "--config", "x", "S"], ["recall", "--config", "x"], ["stop", "--config", "x", "hub"],
        ["stop", "--config", "x", "hub", "--reason", " "], ["stop", "--config", "x", "galaxy:far"],
        ["stop", "--config", "x", "lane:"], ["resume", "--config", "x"],
        ["recall", "--config", "x", "S", "--reason", "r", "--lift", "--replace", "t"],
        ["recall", "--config", "x", " ", "--reason", "r"], ["audit", "--config", "x", "--since", "yesterday"],
        ["recall", "--config", "x", "S", "--reason", String(repeating: "r", count: 513)],
    ])
    func `an incomplete or invalid order is refused before anything is read`(arguments: [String]) async throws {
        #expect(try await Program.run(arguments).status == 64)
    }

    @Test func `a running process applies orders, and the commands report that`() async throws {
        let room = try await room()
        let running = try room.start("run")
        try await running.wrote("partitions assigned")
        let stopped = try await room.run("stop", "hub", "--reason", "wrong alert", "--by", "M. Mustermann")
        #expect(stopped.status == 0, "\(stopped.errors)")
        #expect(
            stopped.output.contains(/^stopped the hub: applied by 1 of 1 process in [0-9,]+ ms; 0 deliveries wait\n$/),
            "\(stopped.output)")
        let listed = try await room.run("control", "--list")
        #expect(listed.output.contains("stop of the hub"))
        #expect(listed.output.hasSuffix("1 order stands; 1 process obeys\n"))
        let resumed = try await room.run("resume", "hub", "--json")
        #expect(try outcome(resumed).applied == 1, "\(resumed.errors)")
        let audit = try await room.run("audit")
        #expect(listed.output.contains("when resumed") && listed.output.contains("since (UTC)"))
        #expect(audit.output.hasPrefix("time (UTC) "))
        #expect(audit.output.split(separator: "\n").count == 6, "\(audit.output)")
        #expect(audit.output.contains("  a process starts  "), "\(audit.output)")
        running.terminate()
        #expect(try await running.ended().status == 0)
        #expect(
            try await room.run("control").output == "no order stands; no process is known to be there\n")
        await room.close()
    }

    @Test func `a second stop names the stop that it replaces, in its output and in the audit`() async throws {
        let room = try await room()
        let first = try await room.run("stop", "hub", "--reason", "wrong alert", "--by", "M. Mustermann", "--json")
        #expect(first.output.contains(#""former":null"#))
        let second = try await room.run("stop", "hub", "--reason", "maintenance", "--by", "ops")
        #expect(
            second.output.contains(
                /\nit takes the place of the stop by M\. Mustermann, 20[0-9: -]+ UTC: wrong alert\n$/),
            "\(second.output)")
        let audit = try await room.run("audit")
        #expect(audit.output.contains("maintenance; in place of that by M. Mustermann, "), "\(audit.output)")
        #expect(try await room.run("audit", "--json").output.contains(#""former":{"id":""#))
        let third = try await room.run("stop", "hub", "--reason", "r", "--json")
        #expect(third.output.contains(#""by":"ops","reason":"maintenance"}"#), "\(third.output)")
        let resumed = try await room.run("resume", "hub")
        #expect(
            resumed.output.contains(/\nit ends the stop by [^,]+, 20[0-9: -]+ UTC: r\n$/), "\(resumed.output)")
        #expect(try await room.run("audit").output.contains("it was by "))
        await room.close()
    }

    private func keys(_ room: ProgramRoom) throws -> [(key: [UInt8], isTombstone: Bool)] {
        let reader = try TopicReader(settings: room.broker.settings(group: "keys"), topic: "news.control")
        var keys: [(key: [UInt8], isTombstone: Bool)] = []
        while !reader.isAtEnd {
            for read in try reader.next(timeout: .milliseconds(200)) {
                keys.append((read.record.key ?? [], read.record.value == nil))
            }
        }
        return keys
    }

    /// "é" has two spellings in Unicode, of which a keyboard or a system writes one.
    @Test func `an order is lifted by any spelling of its name`() async throws {
        let room = try await room()
        let recalled = try await room.run("recall", "Cafe\u{301}", "--reason", "r", "--unseen")
        #expect(recalled.status == 1, "no process runs")
        let lifted = try await room.run("recall", "Caf\u{E9}", "--lift")
        #expect(!lifted.output.contains("nothing to lift"), "\(lifted.output)")
        let keys = try keys(room)
        #expect(keys.map(\.isTombstone) == [false, true])
        #expect(Set(keys.map(\.key)).count == 1)
        await room.close()
    }

    /// A process obeys an order that is not on the topic, which was deleted and made again.
    @Test func `an order that only processes know is reported and can be lifted`() async throws {
        let room = try await room()
        let beat = ControlRecord.Beat(
            replica: "a", at: ServiceClock().now.wall, logTime: .zero, appliedTo: 100, orders: 1)
        try write(room, ControlRecord.beat(beat).record(on: "news.control"))
        let listed = try await room.run("control", "--list")
        #expect(listed.output.hasPrefix("no order stands; 1 process obeys"))
        #expect(listed.errors.contains("running processes obey orders that are not on news.control"))
        let resumed = try await room.run("resume", "hub")
        #expect(resumed.status == 1, "the process does not answer")
        #expect(!resumed.output.contains("nothing to resume"))
        #expect(try keys(room).contains { $0 == (Array("stop/hub".utf8), true) })
        await room.close()
    }

    @Test func `a stop of a feed or a run without deliveries is given, with a warning`() async throws {
        let room = try await room()
        let running = try room.start("run")
        try await running.wrote("partitions assigned")
        let run = try await room.run("stop", "run:2026-11")
        #expect(run.status == 0 && run.output.contains("; 0 deliveries wait\n"))
        #expect(run.errors.hasPrefix("warning: run 2026-11 stands stopped, but no process has anything of it."))
        #expect(run.errors.contains("newswire resume --config FILE run:2026-11"))
        let feed = try await room.run("stop", "feed:agency")
        #expect(feed.status == 0)
        #expect(feed.errors.contains("the configuration has no such feed, and no process has anything of it"))
        running.terminate()
        #expect(try await running.ended().status == 0)
        await room.close()
    }

    @Test func `a recalled story is not sent, but its replacement is sent`() async throws {
        let room = try await room()
        func publish(_ id: String) async throws {
            let event = #"{"id":"\#(id)","story":"quake","headline":"h","category":"World"}"#
            _ = try await room.run("publish", "-", input: event)
            #expect(try await room.run("run", "--until-caught-up").status == 0)
        }
        try await publish("first")
        let recalled = try await room.run(
            "recall", "quake", "--reason", "agency kill", "--replace", "Withdrawn: earthquake", "--json")
        #expect(recalled.output.contains(#""replaced":["World"]"#), "\(recalled.output)\(recalled.errors)")
        try await publish("second")
        #expect(room.hub.receivedCount == 2)
        let results = try await room.run("results", "--json").output.split(separator: "\n")
        #expect(results.count { $0.contains(#""outcome":"canceled""#) && $0.contains("second") } == 1)
        #expect(results.count { $0.contains(#""outcome":"accepted""#) && $0.contains("replacement-") } == 1)
        await room.close()
    }

    @Test func `a story that no reader has seen is not replaced`() async throws {
        let room = try await room()
        let recalled = try await room.run("recall", "S", "--reason", "r", "--replace", "Withdrawn", "--unseen")
        #expect(recalled.status == 1)
        // No process runs that could answer.
        #expect(recalled.output.contains("\nno result of the last 7 days says that the hub took any of it\n"))
        #expect(recalled.output.contains("\nmore may have been accepted: no process has answered. "))
        // The device's template decides.
        #expect(recalled.errors.hasPrefix("warning: the replacement will ring: in template mode "))
        #expect(recalled.errors.contains("payload.templates"))
        #expect(
            recalled.errors.contains(
                "\nnothing was replaced: no result of the last 7 days says that the hub took any of S, but "),
            "\(recalled.errors)")
        await room.close()
    }

    @Test func `orders on a widened control topic are found, and the commands warn`() async throws {
        var topics = Self.topics
        topics[3].1 = 2
        let room = try await ProgramRoom(topics: topics)
        for name in 0..<5 {
            let recalled = try await room.run("recall", "s\(name)", "--reason", "r", "--unseen")
            #expect(recalled.errors.hasPrefix("warning: news.control has 2 partitions, "), "\(recalled.errors)")
        }
        let first = try TopicReader(
            settings: room.broker.settings(group: "test"), topic: "news.control", partitions: [0])
        var count = 0
        while !first.isAtEnd { count += try first.next(timeout: .milliseconds(200)).count }
        #expect(count == 5)
        for arguments in [["control"], ["audit"]] {
            let shown = try await Program.run(
                arguments + ["--config", room.path("newswire.yaml")], environment: room.environment)
            #expect(shown.errors.contains("warning: news.control has 2 partitions, "), "\(shown.errors)")
        }
        await room.close()
    }

    @Test func `a process that does not answer is named, and the order stays in force`() async throws {
        let room = try await room()
        let beat = ControlRecord.beat(
            .init(replica: "news-3", at: Instant(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))))
        try write(room, beat.record(on: "news.control"))
        let recalled = try await room.run("recall", "S", "--reason", "r", "--json", "--unseen")
        #expect(recalled.status == 1)
        let outcome = try outcome(recalled)
        #expect((outcome.processes, outcome.applied, outcome.missing) == (1, 0, ["news-3"]))
        #expect(outcome.milliseconds >= 5_000)
        #expect(recalled.errors.contains("news-3 has not answered; last heard at 20"))
        #expect(recalled.errors.contains("may not see news.audit, or not write to it"))
        #expect(try await room.run("control", "--json").output.contains(#""scope":"recall/story/S","do":"recall""#))
        await room.close()
    }

    @Test func `lifting an order that is not in force succeeds without effect`() async throws {
        let room = try await room()
        let lifted = try await room.run("recall", "S", "--lift")
        #expect((lifted.status, lifted.output) == (0, "S is not recalled: there is nothing to lift\n"))
        let resumed = try await room.run("resume", "lane:live")
        #expect((resumed.status, resumed.output) == (0, "lane live is not stopped: there is nothing to resume\n"))
        #expect(try await room.run("audit").output == "no orders\n")
        await room.close()
    }

    @Test func `an order that was cut off between audit and control is seen in the audit`() async throws {
        let room = try await room()
        let cutOff = Instruction(
            id: "o1", scope: .stop(.hub), at: Instant(milliseconds: 1_795_255_200_000), by: "M. Mustermann")
        try write(room, cutOff.auditEntry().record(on: "news.audit"))
        #expect(try await room.run("audit").output.contains("never applied"))
        #expect(try await room.run("audit", "--json").output.contains(#""neverApplied":true"#))
        await room.close()
    }

    @Test func `categories are found regardless of case, and an unknown name is refused`() async throws {
        let room = try await room()
        #expect(try outcome(await room.run("stop", "category:world", "--json")).scope == "stop/category/World")
        #expect(try outcome(await room.run("resume", "category:WORLD", "--json")).do == "resume")
        let unknown = try await room.run("stop", "lane:lve")
        #expect(unknown.status == 64)
        #expect(unknown.errors.contains("Did you mean live?"))
        await room.close()
    }

    @Test func `orders beyond the capacity of processes are refused`() async throws {
        let room = try await room()
        let at = Instant(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
        let publisher = try RecordPublisher(settings: room.broker.settings(group: "test"))
        for number in 0..<StandingOrders.capacity {
            let order = Order(id: "o\(number)", scope: .recall(story: "s\(number)"), at: at, by: "m")
            try publisher.publish(ControlRecord.stands(order).record(on: "news.control"))
        }
        try publisher.flush()
        let refused = try await room.run("recall", "one-more", "--reason", "r", "--unseen")
        #expect(refused.status == 1)
        #expect(refused.errors.contains("as many orders stand as a process keeps (10,000 recalls"))
        // Stops have room of their own, and a recall in force may be given again.
        for arguments in [["stop", "hub", "--reason", "r"], ["recall", "s7", "--reason", "again"]] {
            let given = try await Program.run(
                arguments + ["--config", room.path("newswire.yaml")], environment: room.environment)
            #expect(given.output.contains("the order is in force"), "\(given.errors)")
        }
        await room.close()
    }

    @Test func `missing topics are named with their remedy`() async throws {
        let room = try await ProgramRoom()
        for arguments in [["stop", "lane:live"], ["control"], ["audit"]] {
            let ended = try await Program.run(
                arguments.prefix(1) + ["--config", room.path("newswire.yaml")] + arguments.dropFirst(),
                environment: room.environment)
            #expect(ended.status == 1)
            #expect(ended.errors.contains("newswire topics --create --config FILE"), "\(ended.errors)")
        }
        #expect(
            try await room.run("stop", "lane:live").errors.contains("recalls its story in the process that reads it"))
        #expect(
            try await room.run("stop", "lane:live").errors.hasPrefix("error: nothing was ordered. Topic news.control "))
        await room.close()
    }
}

/// Reports of orders whose outcome is not known.
struct OrderDoubtTests {
    @Test func `an order is reported as not given while the brokers are down`() async throws {
        let room = try await ProgramRoom()
        room.broker.setDown()
        let ended = try await room.run("stop", "hub", "--reason", "r")
        #expect(ended.status == 1)
        #expect(ended.errors.hasPrefix("error: nothing was ordered. "), "\(ended.errors)")
        await room.close()
    }
}
