import KafkaModel
import Testing

@Suite struct TopicRulesTests {
    private static func rules(live: Duration? = .seconds(900), backfill: Duration? = .seconds(3_600)) -> TopicRules {
        TopicRules(
            lanes: [
                .init(name: "live", topics: ["a", "b"], maxAge: live),
                .init(name: "backfill", topics: ["c"], maxAge: backfill),
            ], resultsTopic: "results", deadLetterTopic: "dead")
    }

    private static func states(
        _ counts: [String: Int], results: [String: String] = [:], dead: [String: String] = [:],
        source: [String: String] = [:]
    ) -> [String: TopicState] {
        Dictionary(
            uniqueKeysWithValues: counts.map { name, count in
                let values = ["results": results, "dead": dead][name] ?? source
                return (name, TopicState(partitions: count, configuration: .known(values)))
            })
    }

    private static let sound = ["a": 4, "b": 4, "c": 2, "results": 4, "dead": 1]
    private static let day = 86_400_000

    @Test func `topics that fit have no finding and need no change`() {
        let states = Self.states(
            Self.sound, results: ["cleanup.policy": "delete", "retention.ms": "\(Self.day)"],
            dead: ["max.message.bytes": "9"],
            source: ["max.message.bytes": "9", "cleanup.policy": "compact", "retention.ms": "1"])
        #expect(Self.rules().findings(states).isEmpty)
        #expect(TopicPlan(Self.rules()).changes(states, partitions: 12).isEmpty)
        let unreported = Self.sound.mapValues { TopicState(partitions: $0) }
        #expect(Self.rules().findings(unreported).isEmpty)
    }

    @Test(arguments: [
        (
            ["a": 4, "b": 4, "c": 2, "dead": 1], "results", TopicRules.Severity.refuse,
            "does not exist, or this user may not see it"
        ),
        (["b": 4, "c": 2, "results": 4, "dead": 1], "a", .waits, "does not exist, or this user may not see it"),
        (["a": 4, "b": 4, "c": 2, "results": 4], "dead", .warning, "does not exist, or this user may not see it"),
        (
            ["a": 4, "b": 4, "c": 9, "results": 4, "dead": 1], "results", .waits,
            "has 4 partitions, but c has 9: records from partition 4 on wait"
        ),
        (
            ["a": 3, "b": 4, "c": 2, "results": 4, "dead": 1], "a", .waits,
            "has 3 partitions, but b of the same lane has 4"
        ),
    ])
    func `a topic that is missing or too small is named`(
        counts: [String: Int], topic: String, severity: TopicRules.Severity, sentence: String
    ) {
        let findings = Self.rules().findings(Self.states(counts))
        #expect(findings.map(\.topic) == [topic] && findings.map(\.severity) == [severity])
        #expect(findings.map(\.sentence) == [sentence])
    }

    @Test func `a missing control topic is a warning, unless nothing is sent without it`() {
        var rules = Self.rules()
        rules.controlTopic = "control"
        let warning = rules.findings(Self.states(Self.sound))
        #expect(warning.map(\.severity) == [.warning])
        rules.needsControl = true
        let finding = rules.findings(Self.states(Self.sound)).first
        #expect(finding?.severity == .waits)
        #expect(finding?.sentence.contains("nothing is sent before it is there") == true)
        #expect(finding?.remedy.contains("newswire topics --create") == true)
    }

    @Test(arguments: [("16383", true), ("16384", false)])
    func `a topic of orders or their audit that is too small for a long order is a warning`(
        limit: String, isSmall: Bool
    ) {
        for topic in ["control", "audit"] {
            var rules = Self.rules()
            if topic == "control" { rules.controlTopic = topic } else { rules.auditTopic = topic }
            var states = Self.states(Self.sound)
            let policy = topic == "control" ? "compact" : "delete"
            states[topic] = TopicState(
                partitions: 1, configuration: .known(["max.message.bytes": limit, "cleanup.policy": policy]))
            let findings = rules.findings(states)
            #expect(findings.map(\.problem) == (isSmall ? [.smallMessages] : []), "\(topic)")
            #expect(findings.allSatisfy { $0.severity == .warning && $0.topic == topic })
        }
    }

    @Test func `a topic with one record per source partition needs as many partitions`() {
        var rules = Self.rules()
        (rules.heldTopic, rules.telemetryTopic) = ("held", "telemetry")
        let counts = Self.sound.merging(["results": 3, "held": 2, "telemetry": 1]) { $1 }
        let findings = rules.findings(Self.states(counts))
        #expect(findings.map(\.problem) == [.tooFewPartitions, .tooFewPartitions, .tooFewPartitions])
        #expect(
            findings.map(\.sentence) == [
                "has 3 partitions, but a has 4: records from partition 3 on wait",
                "has 2 partitions, but a has 4: events from partition 2 on go to other partitions of it, after an error of each",
                "has 1 partition, but a has 4: newswire telemetry does not start",
            ])
    }

    @Test(arguments: ["compact", "compact,delete", "delete, compact"])
    func `a compacted results topic is refused`(policy: String) {
        let findings = Self.rules().findings(Self.states(Self.sound, results: ["cleanup.policy": policy]))
        #expect(findings.map(\.problem) == [.compacted] && findings.map(\.severity) == [.refuse])
        let dead = Self.rules().findings(Self.states(Self.sound, dead: ["cleanup.policy": policy]))
        #expect(dead.map(\.severity) == [.warning])
    }

    @Test(
        arguments: [
            (900, 900, 86_399_999, true), (900, 900, 86_400_000, false), (900, 900, -1, false),
            (900, nil, 604_799_999, true),
            (900, nil, 604_800_000, false), (900, 864_000, 863_999_999, true), (900, 864_000, 864_000_000, false),
        ] as [(Int64, Int64?, Int, Bool)])
    func `results must be kept as long as a record may stay open`(
        live: Int64, backfill: Int64?, kept: Int, isShort: Bool
    ) {
        let rules = Self.rules(live: .seconds(live), backfill: backfill.map { .seconds($0) })
        let findings = rules.findings(Self.states(Self.sound, results: ["retention.ms": "\(kept)"]))
        #expect(findings.map(\.problem) == (isShort ? [.shortRetention] : []))
        #expect(findings.allSatisfy { $0.severity == .warning })
    }

    @Test func `a configuration that may not be read, and a limit below the sources', are warnings`() {
        var states = Self.states(Self.sound, dead: ["max.message.bytes": "1000"], source: ["max.message.bytes": "2000"])
        states["results"]?.configuration = .unreadable("TOPIC_AUTHORIZATION_FAILED")
        let findings = Self.rules().findings(states)
        #expect(findings.map(\.problem) == [.unreadable, .smallMessages])
        #expect(findings.allSatisfy { $0.severity == .warning })
        #expect(findings.first?.description.contains("DESCRIBE_CONFIGS") == true)
    }

    @Test(
        arguments: [
            ([:], ["a 12", "b 12", "c 12", "results 12", "dead 12"]),
            (["b": 5], ["a 5", "c 12", "results 12", "dead 12"]),
            (["a": 24, "c": 3], ["b 24", "results 24", "dead 24"]),
            (["a": 4, "b": 3, "c": 6, "results": 5, "dead": 1], ["b 3>4", "results 5>6"]),
            (["a": 4, "b": 4, "c": 6, "results": 8], ["dead 6"]),
        ] as [([String: Int], [String])])
    func `missing topics are created and small ones are widened`(counts: [String: Int], expected: [String]) {
        let changes = TopicPlan(Self.rules()).changes(Self.states(counts), partitions: 12)
        #expect(changes.map { "\($0.topic) \($0.from.map { "\($0)>" } ?? "")\($0.partitions)" } == expected)
        #expect(changes.allSatisfy { $0.configuration.isEmpty == ($0.from != nil) })
        var states = Self.states(counts)
        for change in changes { states[change.topic] = TopicState(partitions: change.partitions) }
        #expect(Self.rules().findings(states).isEmpty)
    }

    @Test func `new topics are not compacted and are kept long enough`() {
        func days(_ rules: TopicRules, _ use: TopicRules.Use) -> Int? {
            #expect(TopicPlan(rules).settings(for: use)["cleanup.policy"] == "delete")
            return TopicPlan(rules).settings(for: use)["retention.ms"].flatMap { Int($0) }.map { $0 / Self.day }
        }
        let usual = Self.rules(backfill: nil)
        #expect(
            days(usual, .source(lane: "live")) == 7 && days(usual, .results) == 14 && days(usual, .deadLetters) == 30)
        let patient = Self.rules(backfill: .seconds(60 * 86_400))
        #expect(days(patient, .source(lane: "backfill")) == 60 && days(patient, .results) == 60)
        #expect(days(patient, .source(lane: "live")) == 7)
    }
}

struct TelemetryTopicTests {
    private var rules: TopicRules {
        var rules = TopicRules(
            lanes: [.init(name: "live", topics: ["news.events"])], resultsTopic: "news.results",
            deadLetterTopic: "news.dead-letters")
        rules.telemetryTopic = "news.telemetry"
        return rules
    }

    private func findings(_ telemetry: TopicState?) -> [TopicRules.Finding] {
        var states = ["news.events": TopicState(partitions: 6), "news.results": TopicState(partitions: 6)]
        states["news.telemetry"] = telemetry
        return rules.findings(states).filter { $0.use == .telemetry }
    }

    @Test func `a missing topic stops no news, and is created as wide as the results`() {
        #expect(findings(nil).map(\.severity) == [.warning])
        let change = TopicPlan(rules).changes(["news.events": TopicState(partitions: 6)], partitions: 12)
            .first { $0.use == .telemetry }
        #expect(change?.partitions == 6 && change?.configuration["cleanup.policy"] == "delete")
    }

    @Test func `a topic with too few partitions or that is compacted does not fit`() {
        #expect(findings(TopicState(partitions: 6)).isEmpty)
        #expect(findings(TopicState(partitions: 5)).map(\.problem) == [.tooFewPartitions])
        let compacted = TopicState(partitions: 6, configuration: .known(["cleanup.policy": "compact"]))
        #expect(findings(compacted).map(\.problem) == [.compacted])
    }
}

struct FeedStateTopicTests {
    private let rules = TopicRules(
        lanes: [.init(name: "live", topics: ["news.events"])], resultsTopic: "news.results",
        deadLetterTopic: "news.dead-letters", feedStateTopic: "news.feeds")

    private func problems(_ policy: String?) -> [TopicRules.Problem] {
        let configuration = policy.map { TopicConfiguration.known(["cleanup.policy": $0]) } ?? .unreported
        let states = ["news.feeds": TopicState(partitions: 3, configuration: configuration)]
        return rules.findings(states).filter { $0.use == .feedState }.map(\.problem)
    }

    @Test(arguments: ["delete", "compact,delete", "delete,compact"])
    func `state that would vanish in time is refused`(policy: String) {
        #expect(problems(policy) == [.notCompacted])
    }

    @Test(arguments: ["compact", nil])
    func `compacted state is sound, and an unknown policy is taken`(policy: String?) {
        #expect(problems(policy) == [])
    }

    @Test func `the state topic is created compacted, as wide as the results, and never widened`() {
        let states = ["news.events": TopicState(partitions: 6), "news.results": TopicState(partitions: 6)]
        let created = TopicPlan(rules).changes(states, partitions: 12).first { $0.use == .feedState }
        #expect(created?.partitions == 6)
        #expect(created?.configuration["cleanup.policy"] == "compact")
        let narrow = states.merging(["news.feeds": TopicState(partitions: 2)]) { $1 }
        #expect(!TopicPlan(rules).changes(narrow, partitions: 12).contains { $0.use == .feedState })
    }
}

struct EditorialTopicRulesTests {
    private let rules: TopicRules

    init() {
        var rules = TopicRules(
            lanes: [.init(name: "live", topics: ["news.events"])], resultsTopic: "news.results",
            deadLetterTopic: "news.dead-letters")
        (rules.controlTopic, rules.auditTopic, rules.heldTopic) = ("news.control", "news.audit", "news.held")
        self.rules = rules
    }

    private func findings(_ topic: String, _ partitions: Int, _ policy: String? = nil) -> [TopicRules.Finding] {
        let configuration = policy.map { TopicConfiguration.known(["cleanup.policy": $0]) } ?? .unreported
        let states = [
            "news.events": TopicState(partitions: 6),
            topic: TopicState(partitions: partitions, configuration: configuration),
        ]
        return rules.findings(states).filter { $0.topic == topic }
    }

    @Test func `without the editors' topics news is sent, and each warning names the effect`() {
        let missing = rules.findings([:]).filter { [.control, .audit, .held].contains($0.use) }
        #expect(missing.map(\.severity) == [.warning, .warning, .warning])
        #expect(missing.first?.sentence.contains("reaches this one only; all else works") == true)
    }

    @Test(
        arguments: [
            ("news.control", 1, "compact", []), ("news.control", 3, "compact", [.tooManyPartitions]),
            ("news.control", 1, "delete", [.notCompacted]), ("news.control", 1, "compact,delete", [.notCompacted]),
            ("news.audit", 5, "delete", []), ("news.audit", 1, "compact", [.compacted]),
            ("news.held", 6, "compact", []), ("news.held", 5, "compact", [.tooFewPartitions]),
            ("news.held", 6, "delete", [.notCompacted]), ("news.held", 6, nil, []),
        ] as [(String, Int, String?, [TopicRules.Problem])])
    func `settings that would lose orders, their history or held events are reported`(
        topic: String, partitions: Int, policy: String?, problems: [TopicRules.Problem]
    ) {
        #expect(findings(topic, partitions, policy).map(\.problem) == problems)
    }

    @Test func `a broker that does not show whether it compacts a topic is reported`() {
        let unknown = TopicState(partitions: 6, configuration: .known(["retention.ms": "1"]))
        let found = rules.findings(["news.control": unknown, "news.held": unknown, "news.audit": unknown])
        #expect(found.filter { $0.problem == .unreadable }.map(\.topic) == ["news.control", "news.held"])
    }

    @Test func `editors' topics get one partition, the held topic as many as the results`() {
        let states = ["news.events": TopicState(partitions: 6)]
        let created = TopicPlan(rules).changes(states, partitions: 12).suffix(3)
        #expect(created.map(\.partitions) == [1, 1, 6])
        #expect(created.map { $0.configuration["cleanup.policy"] } == ["compact", "delete", "compact"])
    }

    @Test func `the held topic has room for an event's headers`() {
        let configuration = TopicConfiguration.known(["max.message.bytes": "2000000"])
        let states = ["news.events": TopicState(partitions: 1, configuration: configuration)]
        let held = TopicPlan(rules).changes(states, partitions: 1).first { $0.use == .held }
        #expect(held?.configuration["max.message.bytes"] == "2016384")
    }
}
