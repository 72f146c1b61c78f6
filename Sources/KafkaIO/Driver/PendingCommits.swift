import KafkaModel
import NewsModel

/// Unanswered commits, by the numbers of their requests.
///
/// librdkafka 2.0.2 reports the broker's answer for one partition as that of all partitions in the request. Requests that failed
/// because of a topic are therefore repeated per topic, so that a deleted topic fails no other commit.
struct PendingCommits {
    struct Answer: Equatable {
        var shard: ShardID
        var generation: Generation
        var offsets: [PartitionOffset]
        var failure: KafkaFailure?
    }

    enum Step: Equatable {
        case answer(Answer)
        /// Commit each of these lists in a separate request, with the number that `begin` returns for it.
        case divide(commit: Int, [[PartitionOffset]])
        case wait
    }

    private struct Commit {
        var answer: Answer
        /// Number of unanswered requests.
        var open = 0
        var isDivided = false
    }

    private var commits: [Int: Commit] = [:]
    private var requests: [UInt: (commit: Int, offsets: [PartitionOffset])] = [:]
    private var lastCommit = 0
    private var lastRequest: UInt = 0

    /// Errors of topics rather than of the group.
    private static let ofTopics: Set<String> = ["UNKNOWN_TOPIC_OR_PART", "TOPIC_AUTHORIZATION_FAILED"]

    /// Starts a commit that a shard requested.
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
