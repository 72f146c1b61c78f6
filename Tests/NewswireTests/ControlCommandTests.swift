import ControlIO
import EditorialControl
import Foundation
import HubServer
import KafkaIO
import KafkaModel
import NewsModel
import NewswireCommands
import NotificationHub
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
        #expect(audit.output.split(separator: "\n").count == 5, "\(audit.output)")
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

struct OrderReportTests {
    /// A report of three processes, the first of which has met deliveries.
    ///
    /// - Parameter silent: the processes that have not answered.
    private func report(
        _ scope: ControlScope, waiting: Int, inFlight: Int, held: Int = 0, lifts: Bool = false,
        silent: Set<String> = [],
        former: Order? = nil
    ) -> OrderReport {
        let order = Instruction(id: "o", scope: scope, lifts: lifts, at: Instant(milliseconds: 0), by: "m")
        var answers = OrderAnswers(to: order, inPlaceOf: former)
        let beats = ["a", "b", "c"].map { ControlRecord.Beat(replica: $0, at: Instant(milliseconds: 0)) }
        var signs = LifeSigns(capacity: 3)
        for beat in beats { signs.heard(beat) }
        answers.apply(order.order.map { .stands($0) } ?? .lifted(scope), signs)
        for beat in beats where !silent.contains(beat.replica) {
            let isFirst = beat.replica == "a"
            answers.apply(
                AuditEntry(
                    at: Instant(milliseconds: 0), scope: scope.key, action: order.action, order: "o",
                    replica: beat.replica,
                    applied: AppliedOrder(
                        order: "o", waiting: isFirst ? waiting : 0, inFlight: isFirst ? inFlight : 0, held: held)))
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
                == "recalled urn:x[2J: \(applied); nothing of it was waiting, 1 was on its way")
        #expect(report(story, waiting: 0, inFlight: 0).sentence.hasSuffix("; nothing of it was waiting"))
        #expect(
            report(.stop(.lane("live")), waiting: 1_204, inFlight: 0).sentence
                == "stopped lane live: \(applied); 1,204 deliveries wait")
        #expect(report(story, waiting: 0, inFlight: 0, held: 1).sentence == "recalled urn:x[2J: \(applied); 1 was held")
        #expect(
            report(story, waiting: 2, inFlight: 0, held: 1).sentence.hasSuffix(
                "; 2 waiting deliveries ended, 1 was held"))
        #expect(
            report(.stop(.hub), waiting: 0, inFlight: 0).sentence == "stopped the hub: \(applied); 0 deliveries wait")
        #expect(report(.stop(.hub), waiting: 3, inFlight: 0, lifts: true).sentence == "resumed the hub: \(applied)")
    }

    @Test func `the report of an unconfirmed order says that it is in force`() {
        let nobody = Instruction(id: "o", scope: .stop(.hub), at: Instant(milliseconds: 0), by: "m")
        #expect(
            OrderReport(OrderAnswers(to: nobody), took: .zero).sentence
                == "stopped the hub: no process has confirmed; the order is in force. A process that starts reads it before it "
                + "sends anything")
    }

    @Test func `a process that is not awaited is named with its risk`() {
        let stop = Instruction(id: "o", scope: .stop(.hub), at: Instant(milliseconds: 0), by: "m")
        var signs = LifeSigns(capacity: 3)
        for (replica, seconds) in [("gone\u{1B}", 100), ("a", 1_000)] {
            signs.heard(.init(replica: replica, at: Instant(milliseconds: 0), logTime: .seconds(seconds)))
        }
        var answers = OrderAnswers(to: stop)
        answers.apply(stop.record, signs)
        #expect(
            OrderReport(answers, took: .zero).silent == [
                "warning: gone fell silent 15 min ago and has not said that it ended: it is not waited for. If it still runs but "
                    + "is cut off from Kafka, it may send what it had read before; make sure that it has ended"
            ])
    }

    @Test func `the outcome covers only processes that have answered`() {
        let story = ControlScope.recall(story: "S")
        #expect(
            report(story, waiting: 0, inFlight: 0, silent: ["c"]).sentence
                == "recalled S: applied by 2 of 3 processes in 140 ms; nothing of it was waiting in those that answered"
        )
        #expect(
            report(.stop(.hub), waiting: 1, inFlight: 0, silent: ["b", "c"]).sentence
                == "stopped the hub: applied by 1 of 3 processes in 140 ms; 1 delivery waits in those that answered")
        #expect(
            report(story, waiting: 0, inFlight: 0, silent: ["a", "b", "c"]).sentence
                == "recalled S: applied by 0 of 3 processes in 140 ms")
    }

    @Test func `a replaced order is reported with its author, time and reason`() {
        let former = Order(
            id: "o0", scope: .stop(.hub), at: Instant(milliseconds: 1_795_255_200_000), by: "n\u{1B}", reason: "flood")
        #expect(
            report(.stop(.hub), waiting: 0, inFlight: 0, former: former).replacement
                == "it takes the place of the stop by n, 2026-11-21 10:00:00 UTC: flood")
        #expect(report(.stop(.hub), waiting: 0, inFlight: 0).replacement == nil)
    }

    // MARK: Recalls

    private func history(_ results: (id: String, outcome: Outcome)...) -> StoryHistory {
        var history = StoryHistory(story: "S")
        for result in results {
            history.apply(
                ResultRecord(
                    eventID: result.id, story: "S", platform: .template, outcome: result.outcome,
                    categories: ["World"], lane: "live",
                    source: .init(partition: TopicPartition(topic: "t", partition: 0), offset: 0),
                    settledAt: Instant(milliseconds: 1_795_255_200_000)))
        }
        return history
    }

    @Test func `a recall claims that the hub took nothing only if that is known`() {
        #expect(RecallReport(history(), StoryDoubts()).lines == ["the hub took nothing of it in the last 7 days"])
        #expect(
            RecallReport(history(), StoryDoubts(inFlight: 1, unanswered: 2)).lines == [
                "no result of the last 7 days says that the hub took any of it",
                "more may have been accepted: 1 request was in flight when the recall arrived, and 2 processes have not "
                    + "answered. newswire results shows what is known later",
            ])
        #expect(
            RecallReport(history(("a", .accepted), ("b\u{1B}", .unknown)), StoryDoubts()).lines == [
                "already accepted: a, 2026-11-21 10:00:00 UTC, for World",
                "may have been accepted, the outcome is unknown: b, 2026-11-21 10:00:00 UTC, for World",
            ])
    }

    @Test func `a replacement that was not sent is reported with what is not known`() {
        func sentence(_ written: WrittenReplacement, _ doubts: StoryDoubts) -> String {
            ReplacementReport(
                written, of: "S", lanes: [], ControlView(), isConfirmed: true, doubts, at: Instant(milliseconds: 0)
            ).sentence
        }
        var written = WrittenReplacement()
        #expect(
            sentence(written, StoryDoubts()) == "nothing to replace: the hub took nothing of S in the last 7 days")
        #expect(
            sentence(written, StoryDoubts(unanswered: 1)).hasPrefix(
                "nothing was replaced: no result of the last 7 days says that the hub took any of S, but more may have")
        )
        written.doubtful = ["Sports"]
        #expect(
            sentence(written, StoryDoubts())
                == "nothing was replaced, because it is not known if the hub took S: the outcome is unknown for Sports")
        written.reach = ["World"]
        #expect(
            sentence(written, StoryDoubts())
                == "the replacement is on its way to the readers of World. It is not known if the hub took S for Sports "
                + "too: nothing is replaced there")
    }

    @Test func `an order that may have lapsed is listed as such`() {
        let order = Order(
            id: "o", scope: .recall(story: "S"), at: Instant(milliseconds: 0), by: "m",
            until: Instant(milliseconds: 1_795_255_200_000))
        let table = ControlTable.orders([order], hasColours: false, mayHaveLapsed: { _ in true })
        #expect(table.contains("2026-11-21 10:00:00, may have lapsed"))
        #expect(!ControlTable.orders([order], hasColours: false).contains("lapsed"))
        let json = String(
            decoding: JSONWriter.object { json in
                json.array("orders") { order.list(unconfirmed: [], mayHaveLapsed: true, into: &$0) }
            }, as: UTF8.self)
        #expect(json.contains(#""mayHaveLapsed":true"#))
    }

    @Test func `only a name that nothing matches is doubted`() {
        func doubt(_ gate: Gate, waiting: Int = 0, lifts: Bool = false, silent: Set<String> = []) -> String? {
            report(.stop(gate), waiting: waiting, inFlight: 0, lifts: lifts, silent: silent).doubt(feeds: ["agency"])
        }
        #expect(doubt(.hub) == nil && doubt(.lane("live")) == nil && doubt(.category("World")) == nil)
        #expect(doubt(.run("1")) != nil && doubt(.run("1"), lifts: true) == nil)
        #expect(doubt(.run("1"), waiting: 1) == nil && doubt(.run("1"), silent: ["a", "b", "c"]) == nil)
        #expect(doubt(.feed("agency"), waiting: 1) == nil)
        #expect(
            doubt(.feed("agncy"), waiting: 1)
                == "warning: feed agncy stands stopped, but the configuration has no such feed (did you mean agency?). If "
                + "the name is wrong: newswire resume --config FILE feed:agncy")
    }
}
