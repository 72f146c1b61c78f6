import EditorialControl
import Foundation
import KafkaModel
import NewsModel
import NewswireCommands
import Testing

private let rules = TopicRules(
    lanes: [
        .init(name: "live", topics: ["a", "b"], maxAge: .seconds(7200)),
        .init(name: "backfill", topics: ["c"], maxAge: nil),
    ], resultsTopic: "news.results", deadLetterTopic: "news.dead-letters")

private func states(_ counts: [String: Int], results: [String: String] = [:]) -> [String: TopicState] {
    counts.reduce(into: [:]) { states, topic in
        states[topic.key] = TopicState(
            partitions: topic.value, configuration: .known(topic.key == "news.results" ? results : [:]))
    }
}

private let sound = ["a": 4, "b": 4, "c": 2, "news.results": 4, "news.dead-letters": 1]

@Test(arguments: [
    (sound, [:], "ok ok ok ok ok"),
    (sound, ["cleanup.policy": "compact"], "ok ok ok fail ok"),
    (sound, ["retention.ms": "3600000"], "ok ok ok warn ok"),
    (sound, ["cleanup.policy": "compact", "retention.ms": "1"], "ok ok ok fail warn ok"),
    (["a": 4, "b": 3, "c": 9, "news.results": 4], [:], "ok fail ok fail fail"),
])
func `check fails for broken promises and waiting partitions, and only warns otherwise`(
    counts: [String: Int], results: [String: String], expected: String
) throws {
    let findings = CheckFinding.topics(rules, states(counts, results: results))
    let words = findings.map { $0.line(hasColours: false).prefix { $0 != " " } }
    #expect(words.joined(separator: " ") == expected)
    #expect(findings.allSatisfy { $0.isFailure == $0.line(hasColours: false).hasPrefix("fail") })
}

@Test func `programs get one object for each topic, with its problems`() throws {
    let states = states(["a": 4, "b": 3, "c": 9, "news.results": 4])
    let lines = rules.json(states, rules.findings(states))
    #expect(lines.first == #"{"topic":"a","use":"lane live","partitions":4,"findings":[]}"#)
    let failing = try lines.map { line in
        let object = try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        return try #require(object["findings"] as? [[String: Any]]).contains { $0["fails"] as? Bool == true }
    }
    #expect(failing == [false, true, false, true, true])
}

@Test func `the table shows the remedy for a topic that does not fit`() throws {
    let states = states(
        ["a": 4, "c": 9, "news.results": 4, "news.dead-letters": 1], results: ["retention.ms": "3600000"])
    let table = rules.table(states, rules.findings(states), hasColours: false)
    let lines = table.split(separator: "\n")
    #expect(lines.count == 7)
    #expect(lines[2].contains("does not exist, or this user may not see it; create it"))
    #expect(
        lines[4].contains("has 4 partitions, but c has 9: records from partition 4 on wait; widen it: newswire topics"))
    #expect(lines[5].contains("warning: keeps results for 1 hour, but a record may stay open for 7 days"))
}

struct EditorialTopicTests {
    private var rules: TopicRules {
        var all = rulesOfNews
        all.controlTopic = "news.control"
        all.auditTopic = "news.audit"
        all.heldTopic = "news.held"
        return all
    }

    private let rulesOfNews = TopicRules(
        lanes: [.init(name: "live", topics: ["a"])], resultsTopic: "news.results", deadLetterTopic: "news.dead-letters")

    /// The words that `check` begins its lines with, for the topics of the editors.
    private func words(_ configure: (inout [String: TopicState]) -> Void) -> String {
        var states = ["a": 4, "news.results": 4, "news.dead-letters": 4].mapValues { TopicState(partitions: $0) }
        func state(_ partitions: Int, _ policy: String) -> TopicState {
            TopicState(partitions: partitions, configuration: .known(["cleanup.policy": policy]))
        }
        states["news.control"] = state(1, "compact")
        states["news.audit"] = state(1, "delete")
        states["news.held"] = state(4, "compact")
        configure(&states)
        let lines = CheckFinding.topics(rules, states).map { $0.line(hasColours: false) }
        return lines.filter { !$0.contains("  topic     a ") && !$0.contains("results") && !$0.contains("dead") }
            .map { $0.prefix { $0 != " " } }.joined(separator: " ")
    }

    @Test func `missing or unfit topics of editors only warn, but a held topic with too few partitions fails`() {
        #expect(words { _ in } == "ok ok ok")
        #expect(
            words { for name in ["news.control", "news.audit", "news.held"] { $0[name] = nil } } == "warn warn warn")
        #expect(words { $0["news.control"]?.partitions = 3 } == "warn ok ok")
        #expect(words { $0["news.control"]?.configuration = .known(["cleanup.policy": "delete"]) } == "warn ok ok")
        #expect(words { $0["news.audit"]?.configuration = .known(["cleanup.policy": "compact"]) } == "ok warn ok")
        #expect(words { $0["news.held"]?.partitions = 2 } == "ok ok fail")
        #expect(words { $0["news.held"]?.configuration = .known(["cleanup.policy": "delete"]) } == "ok ok warn")
    }

    @Test func `check reports the hub's environment on the control topic`() {
        let ours = HubEnvironment(name: "production", host: "h", hub: "n")
        let theirs = HubEnvironment(name: "staging", host: "h", hub: "n")
        func line(_ ours: HubEnvironment?, _ theirs: HubEnvironment?) -> String? {
            var view = ControlView()
            let record = theirs.map { ControlRecord.environment($0).record(on: "news.control") }
            if let record { view.apply(SourceRecord(offset: 0, key: record.key, value: record.value)) }
            return CheckFinding.environment(view.environments.agreement(with: ours), on: "news.control")?
                .line(hasColours: false)
        }
        #expect(line(nil, nil) == nil)
        #expect(line(ours, ours) == "ok    environment production (hub n at h), as news.control says")
        #expect(
            line(ours, nil)?.hasPrefix("ok    environment production (hub n at h); news.control names none yet") == true
        )
        var (first, further) = (ours, ours)
        (first.group, further.group, further.hub) = ("a", "b", "m")
        #expect(
            line(further, first)?.contains(
                "(hub m at h); news.control names this environment, but not this group's hub yet")
                == true)
        for ours in [ours, nil] {
            #expect(line(ours, theirs)?.hasPrefix("fail  environment the settings ") == true)
            #expect(line(ours, theirs)?.contains("says staging (hub n at h)") == true)
        }
    }

    @Test func `topics --create writes the hub's environment once, and refuses another one`()
        async throws
    {
        // The embedded broker creates no topics on request.
        let room = try await ProgramRoom(topics: [
            ("news.events", 2), ("news.results", 2), ("news.dead-letters", 2), ("news.control", 1), ("news.audit", 1),
            ("news.held", 2),
        ])
        func environment(_ name: String) throws {
            let yaml = try String(contentsOfFile: room.path("newswire.yaml"), encoding: .utf8)
            let others = yaml.split(separator: "\n").filter { !$0.hasPrefix("environment:") }
            try room.write((others + ["environment: \(name)"]).joined(separator: "\n") + "\n", to: "newswire.yaml")
        }
        try environment("staging")
        let created = try await room.run("topics", "--create")
        #expect(created.status == 0, "\(created.errors)")
        #expect(created.output.contains("news.control says now: staging (hub breaking-news at "), "\(created.output)")
        let again = try await room.run("topics", "--create")
        #expect(again.status == 0 && !again.output.contains("says now"))
        let agreed = try await room.run("check")
        #expect(agreed.status == 0 && agreed.output.contains("as news.control says"), "\(agreed.output)")
        try environment("production")
        for arguments in [["topics", "--create"], ["check"]] {
            let refused = try await Program.run(
                arguments.prefix(1) + ["--config", room.path("newswire.yaml")] + arguments.dropFirst(),
                environment: room.environment)
            #expect(refused.status == 1)
            #expect((refused.output + refused.errors).contains("the control topic news.control says staging"))
        }
        await room.close()
    }
}
