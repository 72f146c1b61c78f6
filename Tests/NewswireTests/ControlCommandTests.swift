import ControlIO
import EditorialControl
import Foundation
import HubServer
import KafkaIO
import KafkaModel
import NewsModel
import NewswireCommands
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
    func `an order that says too little is refused before anything is read`(arguments: [String]) async throws {
        #expect(try await Program.run(arguments).status == 64)
    }

    @Test func `a running process obeys, and the commands say so`() async throws {
        let room = try await room()
        let running = try room.start("run")
        try await running.wrote("partitions assigned")
        let stopped = try await room.run("stop", "hub", "--reason", "wrong alert", "--by", "M. Mustermann")
        #expect(stopped.status == 0, "\(stopped.errors)")
        #expect(
            stopped.output.contains(/^stopped the hub: applied by 1 of 1 process in [0-9,]+ ms\n$/), "\(stopped.output)"
        )
        let listed = try await room.run("control", "--list")
        #expect(listed.output.contains("stop of the hub"))
        #expect(listed.output.hasSuffix("1 order stands; 1 process obeys\n"))
        let resumed = try await room.run("resume", "hub", "--json")
        #expect(try outcome(resumed).applied == 1, "\(resumed.errors)")
        let audit = try await room.run("audit")
        #expect(audit.output.split(separator: "\n").count == 5, "\(audit.output)")
        running.terminate()
        #expect(try await running.ended().status == 0)
        #expect(try await room.run("control").output == "no order stands; no process is running\n")
        await room.close()
    }

    @Test func `a recalled story is not sent, and its replacement is`() async throws {
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

    @Test func `nothing is replaced that no reader has seen`() async throws {
        let room = try await room()
        let recalled = try await room.run("recall", "S", "--reason", "r", "--replace", "Withdrawn")
        #expect(recalled.status == 0, "\(recalled.errors)")
        #expect(recalled.errors == "nothing to replace: the hub took nothing of S in the last 7 days\n")
        await room.close()
    }

    @Test func `whoever does not answer is named, and the order stands all the same`() async throws {
        let room = try await room()
        let beat = ControlRecord.beat(
            .init(replica: "news-3", at: Instant(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))))
        try write(room, beat.record(on: "news.control"))
        let recalled = try await room.run("recall", "S", "--reason", "r", "--json")
        #expect(recalled.status == 1)
        let outcome = try outcome(recalled)
        #expect((outcome.processes, outcome.applied, outcome.missing) == (1, 0, ["news-3"]))
        #expect(outcome.milliseconds >= 5_000)
        #expect(recalled.errors.contains("news-3 has not answered; last heard "))
        #expect(try await room.run("control", "--json").output.contains(#""scope":"recall/story/S","do":"recall""#))
        await room.close()
    }

    @Test func `what does not stand is not lifted, which is no failure`() async throws {
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
        try write(room, cutOff.auditEntry.record(on: "news.audit"))
        #expect(try await room.run("audit").output.contains("never applied"))
        #expect(try await room.run("audit", "--json").output.contains(#""neverApplied":true"#))
        await room.close()
    }

    @Test func `categories are found whatever their case, and a name that is not known is refused`() async throws {
        let room = try await room()
        #expect(try outcome(await room.run("stop", "category:world", "--json")).scope == "stop/category/World")
        #expect(try outcome(await room.run("resume", "category:WORLD", "--json")).do == "resume")
        let unknown = try await room.run("stop", "lane:lve")
        #expect(unknown.status == 64)
        #expect(unknown.errors.contains("Did you mean live?"))
        await room.close()
    }

    @Test func `orders beyond those that processes keep are refused`() async throws {
        let room = try await room()
        let at = Instant(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
        let publisher = try RecordPublisher(settings: room.broker.settings(group: "test"))
        for number in 0..<StandingOrders.capacity {
            let order = Order(id: "o\(number)", scope: .recall(story: "s\(number)"), at: at, by: "m")
            try publisher.publish(ControlRecord.stands(order).record(on: "news.control"))
        }
        try publisher.flush()
        let refused = try await room.run("recall", "one-more", "--reason", "r")
        #expect(refused.status == 1)
        #expect(refused.errors.contains("as many orders stand as a process keeps (10,000 recalls"))
        // A stop has room of its own, and a standing recall may be given again.
        #expect(try await room.run("stop", "hub", "--reason", "r").status == 0)
        #expect(try await room.run("recall", "s7", "--reason", "again").status == 0)
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
        await room.close()
    }
}

struct OrderReportTests {
    private func report(_ scope: ControlScope, waiting: Int, inFlight: Int, lifts: Bool = false) -> OrderReport {
        let order = Instruction(id: "o", scope: scope, lifts: lifts, at: Instant(milliseconds: 0), by: "m")
        var answers = OrderAnswers(to: order)
        let beats = ["a", "b", "c"].map { ControlRecord.Beat(replica: $0, at: Instant(milliseconds: 0)) }
        answers.take(order.order.map { .stands($0) } ?? .lifted(scope), live: beats)
        for beat in beats {
            let isFirst = beat.replica == "a"
            answers.take(
                AuditEntry(
                    at: Instant(milliseconds: 0), scope: scope.key, action: order.action, order: "o",
                    replica: beat.replica,
                    applied: AppliedOrder(order: "o", waiting: isFirst ? waiting : 0, inFlight: isFirst ? inFlight : 0))
            )
        }
        return OrderReport(answers, took: .milliseconds(140))
    }

    @Test func `the outcome is one sentence`() {
        let applied = "applied by 3 of 3 processes in 140 ms"
        let story = ControlScope.recall(story: "urn:x\u{1B}[2J")
        #expect(
            report(story, waiting: 12, inFlight: 2).sentence
                == "recalled urn:x[2J: \(applied); 12 waiting deliveries ended, 2 were on their way")
        #expect(
            report(story, waiting: 0, inFlight: 1).sentence
                == "recalled urn:x[2J: \(applied); 0 waiting deliveries ended, 1 was on its way")
        #expect(report(story, waiting: 0, inFlight: 0).sentence.hasSuffix("; nothing of it was waiting"))
        #expect(
            report(.stop(.lane("live")), waiting: 1_204, inFlight: 0).sentence
                == "stopped lane live: \(applied); 1,204 deliveries wait")
        #expect(report(.stop(.hub), waiting: 3, inFlight: 0, lifts: true).sentence == "resumed the hub: \(applied)")
    }
}
