import KafkaModel
import NewsModel

/// Commits that are not answered yet, by the number each request travels with.
///
/// librdkafka 2.0.2 reports the broker's answer for one partition as that of every partition of the request. A request that
/// failed because of some topic is therefore repeated topic by topic: a deleted topic must not spoil another one's commit.
struct PendingCommits {
    struct Answer: Equatable {
        var shard: ShardID
        var generation: Generation
        var offsets: [PartitionOffset]
        var failure: KafkaFailure?
    }

    enum Step: Equatable {
        case answer(Answer)
        /// Commit these, each in a request of its own, with what `begin` returns for it.
        case divide(commit: Int, [[PartitionOffset]])
        case wait
    }

    private struct Commit {
        var answer: Answer
        /// Requests without an answer.
        var open = 0
        var isDivided = false
    }

    private var commits: [Int: Commit] = [:]
    private var requests: [UInt: (commit: Int, offsets: [PartitionOffset])] = [:]
    private var lastCommit = 0
    private var lastRequest: UInt = 0

    /// Errors that concern topics, not the group.
    private static let ofTopics: Set<String> = ["UNKNOWN_TOPIC_OR_PART", "TOPIC_AUTHORIZATION_FAILED"]

    /// A commit that a shard asked for.
    mutating func open(shard: ShardID, generation: Generation) -> Int {
        lastCommit += 1
        commits[lastCommit] = Commit(answer: Answer(shard: shard, generation: generation, offsets: []))
        return lastCommit
    }

    func generation(of commit: Int) -> Generation? { commits[commit]?.answer.generation }

    /// - Returns: the number of a request that belongs to the commit; never 0.
    mutating func begin(_ offsets: [PartitionOffset], of commit: Int) -> UInt {
        lastRequest &+= 1
        if lastRequest == 0 { lastRequest = 1 }
        requests[lastRequest] = (commit, offsets)
        commits[commit]?.open += 1
        return lastRequest
    }

    mutating func answered(_ request: UInt, _ failure: KafkaFailure?) -> Step {
        guard let (number, offsets) = requests.removeValue(forKey: request), var commit = commits[number] else {
            return .wait
        }
        commit.open -= 1
        if let failure {
            let topics = Set(offsets.map(\.partition.topic)).sorted()
            if !commit.isDivided, topics.count > 1, Self.ofTopics.contains(failure.code) {
                commit.isDivided = true
                commits[number] = commit
                return .divide(commit: number, topics.map { topic in offsets.filter { $0.partition.topic == topic } })
            }
            commit.answer.failure = commit.answer.failure ?? failure
        } else {
            commit.answer.offsets += offsets
        }
        commits[number] = commit.open > 0 ? commit : nil
        return commit.open > 0 ? .wait : .answer(commit.answer)
    }
}
