import KafkaModel
import Testing

struct TopicWatchTests {
    private let topics = TopicWatch(lanes: [["news"], ["back", "late"]], results: "results", deadLetters: "dead")

    @Test(arguments: [
        (["news": 2, "back": 4, "late": 1, "results": 4, "dead": 1], false),
        (["news": 2, "back": 4, "late": 1, "results": 3, "dead": 1], true),
        (["news": 2, "back": 4, "results": 4, "dead": 1], true),
        (["news": 2, "back": 4, "late": 1, "results": 4], true), (["news": 2, "back": 4, "late": 1, "dead": 1], true),
    ])
    func `missing or small topics are checked more often`(_ counts: [String: Int], _ isWanting: Bool) {
        #expect(topics.isWanting(counts) == isWanting)
        #expect(topics.pause(after: counts) == (isWanting ? TopicWatch.shortInterval : TopicWatch.interval))
    }

    @Test func `other topics are ignored`() {
        #expect(topics.ours(["news": 1, "other": 3]) == ["news": 1])
        #expect(topics.pause(after: nil) == TopicWatch.shortInterval)
    }
}
