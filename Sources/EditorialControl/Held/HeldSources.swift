import KafkaModel
import NewsModel

/// The partitions that held events came from, by number; which of them this process owns, and which cannot be written to.
struct HeldSources: Sendable {
    private var numbers: [TopicPartition: UInt16] = [:]
    private var owned: [Owner: Set<TopicPartition>] = [:]
    private var states: [State] = []
    /// Partitions of each topic that exists.
    private var counts: [String: Int] = [:]

    private struct Owner: Hashable {
        var lane: LaneID
        var shard: ShardID
    }

    private struct State: Sendable {
        var isOurs: Bool
        var otherTarget: Int32?
        var blockedUntil: Instant?
    }

    /// - Returns: `nil` if there are too many.
    mutating func number(of partition: TopicPartition) -> UInt16? {
        if let number = numbers[partition] { return number }
        guard let number = UInt16(exactly: states.count) else { return nil }
        numbers[partition] = number
        states.append(State(isOurs: isOwned(partition), otherTarget: otherTarget(of: partition)))
        return number
    }

    private func isOwned(_ partition: TopicPartition) -> Bool {
        let target = target(of: partition)
        return owned.contains { $1.contains(target) }
    }

    /// Where its events return to: their topic may have been made again with fewer partitions. The remainder is the same for
    /// all who ask, and where a story's key leads if the new number divides the old one.
    private func target(of partition: TopicPartition) -> TopicPartition {
        guard let count = counts[partition.topic], count > 0, Int(partition.partition) >= count else {
            return partition
        }
        return TopicPartition(topic: partition.topic, partition: partition.partition % Int32(clamping: count))
    }

    /// - Returns: `nil` if its partition is there, as far as is known.
    func otherTarget(of number: UInt16) -> Int32? { states[Int(number)].otherTarget }

    func isOurs(_ number: UInt16) -> Bool { states[Int(number)].isOurs }

    func isBlocked(_ number: UInt16) -> Bool { states[Int(number)].blockedUntil != nil }

    /// - Returns: true if that changes whose events are.
    mutating func own(_ partitions: [TopicPartition], _ lane: LaneID, _ shard: ShardID) -> Bool {
        owned[Owner(lane: lane, shard: shard)] = partitions.isEmpty ? nil : Set(partitions)
        return update()
    }

    /// - Returns: true if that changes whose events are.
    mutating func know(_ counts: [String: Int]) -> Bool {
        guard counts != self.counts else { return false }
        self.counts = counts
        return update()
    }

    private func otherTarget(of partition: TopicPartition) -> Int32? {
        let target = target(of: partition).partition
        return target == partition.partition ? nil : target
    }

    private mutating func update() -> Bool {
        var hasChanged = false
        for (partition, number) in numbers {
            let isOurs = isOwned(partition)
            if states[Int(number)].isOurs != isOurs { hasChanged = true }
            states[Int(number)].isOurs = isOurs
            states[Int(number)].otherTarget = otherTarget(of: partition)
        }
        return hasChanged
    }

    /// - Returns: false if it was blocked before.
    mutating func block(_ number: UInt16, until: Instant) -> Bool {
        defer { states[Int(number)].blockedUntil = until }
        return states[Int(number)].blockedUntil == nil
    }

    /// - Returns: true if any has ended its rest.
    mutating func unblock(at now: Instant) -> Bool {
        var hasChanged = false
        for index in states.indices {
            guard let until = states[index].blockedUntil, until <= now else { continue }
            states[index].blockedUntil = nil
            hasChanged = true
        }
        return hasChanged
    }

    var blockedUntil: Instant? { states.lazy.compactMap(\.blockedUntil).min() }
}
