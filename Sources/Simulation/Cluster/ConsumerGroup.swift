import NewsModel

/// The consumer group of one lane on the broker.
struct ConsumerGroup {
    var generation = 0
    /// Number of rebalances begun.
    var round = 0
    var isRebalancing = false
    var members: [Member] = []
    /// The partition counts of the last assignment.
    var assignedCounts: [String: Int] = [:]

    struct Member {
        var address: Address
        /// The last generation in which it was assigned partitions.
        var generation = -1
        var hasJoined = true
        var partitions: [TopicPartition] = []
    }

    func index(of address: Address) -> Int? { members.firstIndex { $0.address == address } }

    /// Assigns as Kafka's `range`: each topic's partitions in contiguous parts, so that topics of equal count stay together.
    mutating func assign(topics: [String], counts: [String: Int]) {
        members.sort { ($0.address.process, $0.address.run) < ($1.address.process, $1.address.run) }
        generation += 1
        isRebalancing = false
        assignedCounts = counts.filter { topics.contains($0.key) }
        for index in members.indices {
            members[index].generation = generation
            members[index].partitions = topics.flatMap { topic in
                let partitions = counts[topic] ?? 0
                let (each, more) = (partitions / members.count, partitions % members.count)
                let first = index * each + min(index, more)
                let count = each + (index < more ? 1 : 0)
                return (first..<first + count).map { TopicPartition(topic: topic, partition: Int32($0)) }
            }
        }
    }
}
