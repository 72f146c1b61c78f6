import NewsModel
import PublishEngine

/// One process of the group: an engine, and the bridge that speaks to Kafka for it.
struct Process {
    var incarnation = 0
    /// `nil` while the process is away.
    var engine: Engine?
    /// How far its clock is ahead of the world's; never shrinks.
    var skew: Duration = .zero
    var frozenUntil = Instant.distantPast
    /// What waits for it to thaw, in order.
    var missed: [Occurrence] = []
    var mintedAt = Instant.distantPast
    var clients: [LaneClient] = []
    /// Partitions as the engine knows them, by their tenure.
    var tenures: [Int] = []
    var alarm: (at: Instant, serial: Int)?
    var alarms = 0
    /// The bridge tells things in the order they happened.
    var toldUntil = Instant.distantPast
    var obeyedUntil = Instant.distantPast
    var isPolling = false
    /// When the last record for a results partition (-1: the dead letters) reaches the broker.
    var appendedUntil: [Int32: Instant] = [:]
    /// Records on their way to the broker.
    var outstanding = 0
    var acknowledgements: [Acknowledgement] = []
    var isClosing = false
    var returnsAfter: Duration = .zero
}

/// One lane's member of its consumer group, as the bridge keeps it.
struct LaneClient {
    /// Counts the assignments.
    var generation = 0
    /// In which the group gave them.
    var groupGeneration = -1
    var slots: [Slot] = []
    var isDraining = false
    /// Ledger jobs of older generations end without a word.
    var ledgerGeneration = 0
    var records = 0
    var bytes = 0
    var hasLeft = false

    struct Slot {
        var partition: TopicPartition
        /// Where reading goes on.
        var position: Int64
        var isHeld = true
        /// The end that was told last.
        var toldEnd: Int64?
    }
}

/// The consumer group of one lane, as the broker keeps it.
struct ConsumerGroup {
    var generation = 0
    /// Counts rebalances begun.
    var round = 0
    var isRebalancing = false
    var members: [Member] = []

    struct Member {
        var address: Address
        /// The last generation it was given partitions in.
        var generation = -1
        var hasJoined = true
        var partitions: [TopicPartition] = []
    }

    func index(of address: Address) -> Int? { members.firstIndex { $0.address == address } }

    /// Kafka's `range`: each topic's partitions in contiguous parts, so that topics of equal count stay together.
    mutating func assign(topics: [String], partitions: Int) {
        members.sort { ($0.address.process, $0.address.incarnation) < ($1.address.process, $1.address.incarnation) }
        generation += 1
        isRebalancing = false
        guard !members.isEmpty else { return }
        for index in members.indices {
            let (each, more) = (partitions / members.count, partitions % members.count)
            let first = index * each + min(index, more)
            let count = each + (index < more ? 1 : 0)
            members[index].generation = generation
            members[index].partitions = topics.flatMap { topic in
                (first..<first + count).map { TopicPartition(topic: topic, partition: Int32($0)) }
            }
        }
    }
}
