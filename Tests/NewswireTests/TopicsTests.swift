import KafkaModel
import Testing

@testable import newswire

private func settings() throws -> Settings {
    let yaml = minimal().replacing(
        "lanes: {live: {topics: [news.events]}}", with: "lanes: {live: {topics: [a, b], maxAge: 2h}, backfill: {topics: [c]}}")
    return try #require(SettingsReading(yaml).settings)
}

private func states(_ counts: [String: Int], results: [String: String] = [:]) -> [String: TopicState] {
    counts.reduce(into: [:]) { states, topic in
        states[topic.key] = TopicState(
            partitions: topic.value, configuration: .known(topic.key == "news.results" ? results : [:]))
    }
}

private let sound = ["a": 4, "b": 4, "c": 2, "news.results": 4, "news.dead-letters": 1]

@Test func `the rules of topics go by the settings`() throws {
    let rules = try settings().topicRules
    #expect(rules.topics.map(\.name) == ["a", "b", "c", "news.results", "news.dead-letters"])
    #expect(rules.topics.map(\.use.description) == ["lane live", "lane live", "lane backfill", "results", "dead letters"])
    #expect(rules.lanes.map(\.maxAge) == [.seconds(7200), nil])
}

@Test(arguments: [
    (sound, [:], "ok ok ok ok ok"),
    (sound, ["cleanup.policy": "compact"], "ok ok ok fail ok"),
    (sound, ["retention.ms": "3600000"], "ok ok ok warn ok"),
    (sound, ["cleanup.policy": "compact", "retention.ms": "1"], "ok ok ok fail warn ok"),
    (["a": 4, "b": 3, "c": 9, "news.results": 4], [:], "ok fail ok fail fail"),
])
func `check fails for what breaks a promise or waits, and shows the rest`(
    counts: [String: Int], results: [String: String], expected: String
) throws {
    let findings = CheckCommand.topics(try settings().topicRules, states(counts, results: results))
    let words = findings.map { $0.line(hasColours: false).prefix { $0 != " " } }
    #expect(words.joined(separator: " ") == expected)
    #expect(findings.allSatisfy { $0.isOK != $0.line(hasColours: false).hasPrefix("fail") })
}

@Test func `what does not fit stands in the table with its remedy`() throws {
    let rules = try settings().topicRules
    let states = states(["a": 4, "c": 9, "news.results": 4, "news.dead-letters": 1], results: ["retention.ms": "3600000"])
    let table = TopicsCommand.table(rules, states, rules.findings(states), hasColours: false)
    let lines = table.split(separator: "\n")
    #expect(lines.count == 7)
    #expect(lines[2].contains("does not exist, or this user may not see it; create it"))
    #expect(lines[4].contains("has 4 partitions, but c has 9: records from partition 4 on wait; widen it: newswire topics"))
    #expect(lines[5].contains("warning: keeps results for 1 hour, but a record may stay open for 7 days"))
}
