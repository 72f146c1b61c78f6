import KafkaModel
import NewsModel
import Testing

@testable import KafkaIO

struct PendingCommitsTests {
    private let offsets = ["a", "b"].map { PartitionOffset(TopicPartition(topic: $0, partition: 0), 7) }
    private let absent = KafkaFailure(code: "UNKNOWN_TOPIC_OR_PART", detail: "")

    @Test func `a commit that fails for one topic is repeated topic by topic`() {
        var pending = PendingCommits()
        let commit = pending.open(shard: ShardID(1), generation: Generation(3))
        let whole = pending.begin(offsets, of: commit)
        let step = pending.answered(whole, absent)
        #expect(step == .divide(commit: commit, [[offsets[0]], [offsets[1]]]))
        let parts = offsets.map { pending.begin([$0], of: commit) }
        let steps = [pending.answered(parts[0], absent), pending.answered(parts[1], nil)]
        let answer = PendingCommits.Answer(
            shard: ShardID(1), generation: Generation(3), offsets: [offsets[1]], failure: absent)
        #expect(steps == [.wait, .answer(answer)])
    }

    @Test func `an error of the group fails the whole commit`() {
        var pending = PendingCommits()
        let commit = pending.open(shard: ShardID(0), generation: Generation(1))
        let request = pending.begin(offsets, of: commit)
        let failure = KafkaFailure(code: "ILLEGAL_GENERATION", detail: "")
        let steps = [pending.answered(request, failure), pending.answered(request, nil)]
        let answer = PendingCommits.Answer(
            shard: ShardID(0), generation: Generation(1), offsets: [], failure: failure)
        #expect(steps == [.answer(answer), .wait])
    }
}
