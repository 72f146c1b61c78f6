import KafkaModel
import NewsModel

/// The source partitions of held events, by number: which of them this process owns, and which ones fail writes.
struct HeldSources: Sendable {
    private var numbers: [TopicPartition: UInt16] = [:]
    private var owned: [Owner: Set<TopicPartition>] = [:]
    private var states: [State] = []
    /// Number of partitions of each topic that exists.
    private var counts: [String: Int] = [:]

    private struct Owner: Hashable {
        var lane: LaneID
        var shard: ShardID
    }

    /// The refresh of the held topic's ends at which this process last took over a partition.
    private var lastTaken = 0

    private struct State: Sendable {
        /// The lane that events return to; `nil` if the partition is not ours.
        var lane: LaneID?
        /// The refresh of the held topic's ends at which this process became the owner.
        var since: Int
        var otherTarget: Int32?
        /// True if no lane reads the topic, or if there is no such topic.
        var isUnread: Bool
        var blockedUntil: Instant?
    }

    /// - Returns: `nil` if there are too many partitions.
    mutating func number(of partition: TopicPartition) -> UInt16? {
        if let number = numbers[partition] { return number }
        guard let number = UInt16(exactly: states.count) else { return nil }
        numbers[partition] = number
        states.append(
            State(
                lane: lane(of: partition), since: lastTaken, otherTarget: otherTarget(of: partition),
                isUnread: isUnread(partition)))
        return number
    }

    private func lane(of partition: TopicPartition) -> LaneID? {
        let target = target(of: partition)
        return owned.first { $1.contains(target) }?.key.lane
    }

    /// The partition to which events return, as their topic may have been recreated with fewer partitions. The remainder is the
    /// same in every process. Story keys map to it if the new number of partitions divides the old one.
    private func target(of partition: TopicPartition) -> TopicPartition {
        guard let count = counts[partition.topic], count > 0, Int(partition.partition) >= count else {
            return partition
        }
        return TopicPartition(topic: partition.topic, partition: partition.partition % Int32(clamping: count))
    }

    func partition(of number: UInt16) -> TopicPartition? { numbers.first { $0.value == number }?.key }

    /// - Returns: `nil` if the source partition exists or is not known to be missing.
    func otherTarget(of number: UInt16) -> Int32? { states[Int(number)].otherTarget }

    /// The lowest number of our partitions, which orders the processes of a group; at most 6.
    var rank: Int { Int(owned.values.joined().map(\.partition).min().map { min($0, 5) } ?? 6) }

    func isOurs(_ number: UInt16) -> Bool { states[Int(number)].lane != nil }

    /// Returns true if no lane of this process reads the partition's topic, so that it returns none of its events.
    func isUnread(_ number: UInt16) -> Bool { states[Int(number)].isUnread }

    var hasUnread: Bool { states.contains(where: \.isUnread) }

    private func isUnread(_ partition: TopicPartition) -> Bool { !counts.isEmpty && counts[partition.topic] == nil }

    /// The lane that events of this partition return to; the most urgent one if it is not ours.
    func lane(of number: UInt16) -> LaneID { states[Int(number)].lane ?? LaneID(0) }

    /// The refresh whose ends must be reached before events of this partition return.
    func look(of number: UInt16) -> Int { states[Int(number)].since }

    func isBlocked(_ number: UInt16) -> Bool { states[Int(number)].blockedUntil != nil }

    /// - Parameter look: a refresh of the held topic's ends. Other processes may have owned our former partitions until now.
    /// - Returns: true if this changes which events may return.
    mutating func own(_ partitions: [TopicPartition], _ lane: LaneID, _ shard: ShardID, look: Int) -> Bool {
        let taken = Set(partitions)
        owned[Owner(lane: lane, shard: shard)] = taken.isEmpty ? nil : taken
        if !taken.isEmpty { lastTaken = look }
        return update(look) { taken.contains($0) }
    }

    /// - Returns: true if this changes which events may return.
    mutating func know(_ counts: [String: Int], look: Int) -> Bool {
        guard counts != self.counts else { return false }
        self.counts = counts
        return update(look) { _ in false }
    }

    private func otherTarget(of partition: TopicPartition) -> Int32? {
        let target = target(of: partition).partition
        return target == partition.partition ? nil : target
    }

    private mutating func update(_ look: Int, isTaken: (TopicPartition) -> Bool) -> Bool {
        var hasChanged = false
        for (partition, number) in numbers {
            let lane = lane(of: partition)
            let former = states[Int(number)].lane
            if lane != nil, former == nil || isTaken(target(of: partition)) {
                states[Int(number)].since = look
                hasChanged = true
            }
            if lane != former { hasChanged = true }
            states[Int(number)].lane = lane
            states[Int(number)].otherTarget = otherTarget(of: partition)
            states[Int(number)].isUnread = isUnread(partition)
        }
        return hasChanged
    }

    /// - Returns: false if it was blocked before.
    mutating func block(_ number: UInt16, until: Instant) -> Bool {
        defer { states[Int(number)].blockedUntil = until }
        return states[Int(number)].blockedUntil == nil
    }

    /// - Returns: true if any partition was unblocked.
    mutating func unblock(at now: Instant) -> Bool {
        var hasChanged = false
        for index in states.indices {
            guard let until = states[index].blockedUntil, until <= now else { continue }
            states[index].blockedUntil = nil
            hasChanged = true
        }
        return hasChanged
    }

    /// Time for which a lane's partition is skipped after a failed write.
    static let blockedFor = Duration.seconds(5)

    var blockedUntil: Instant? { states.lazy.compactMap(\.blockedUntil).min() }
}
