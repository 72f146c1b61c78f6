import KafkaModel
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
