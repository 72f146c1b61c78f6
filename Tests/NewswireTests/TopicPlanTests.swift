import Testing

@testable import newswire

private func plan(_ counts: [String: Int]) throws -> TopicPlan {
    let yaml = minimal().replacing(
        "lanes: {live: {topics: [news.events]}}", with: "lanes: {live: {topics: [a, b]}, backfill: {topics: [c]}}")
    return TopicPlan(try #require(SettingsReading(yaml).settings), counts: counts)
}

@Test func `topics that fit have no problem`() throws {
    let sound = try plan(["a": 4, "b": 4, "c": 2, "news.results": 4, "news.dead-letters": 1])
    #expect(sound.isSound)
    #expect(sound.missing(partitions: 12).isEmpty)
}

@Test(arguments: [
    (
        ["a": 4, "b": 3, "c": 2, "news.results": 8, "news.dead-letters": 1],
        "b: has 3 partitions, but a of the same lane has 4"
    ),
    (
        ["a": 4, "b": 4, "c": 9, "news.results": 8, "news.dead-letters": 1],
        "news.results: has 8 partitions, but a source topic has 9"
    ),
    (["a": 4, "b": 4, "c": 4, "news.results": 4], "news.dead-letters: does not exist"),
])
func `a topic that does not fit is named`(counts: [String: Int], expected: String) throws {
    let problems = try plan(counts).topics.compactMap { topic in topic.problem.map { "\(topic.name): \($0)" } }
    #expect(problems == [expected])
}

@Test(arguments: [
    ([:], ["a 12", "b 12", "c 12", "news.results 12", "news.dead-letters 12"]),
    (["b": 5], ["a 5", "c 12", "news.results 12", "news.dead-letters 12"]),
    (["a": 24, "c": 3], ["b 24", "news.results 24", "news.dead-letters 24"]),
])
func `new topics get partitions that fit the others`(counts: [String: Int], expected: [String]) throws {
    #expect(try plan(counts).missing(partitions: 12).map { "\($0.name) \($0.partitions)" } == expected)
}
