/// Events gathered in one turn, a list for each shard.
public struct ShardEvents: Sendable {
    public private(set) var lists: [[KafkaEvent]]

    public init(shards: Int) { lists = Array(repeating: [], count: max(shards, 1)) }

    public var isEmpty: Bool { lists.allSatisfy(\.isEmpty) }

    public var shards: Range<Int> { lists.indices }

    public mutating func add(_ event: KafkaEvent, for shard: ShardID) {
        guard lists.indices.contains(shard.index) else { return }
        lists[shard.index].append(event)
    }

    /// - Parameter event: makes the event of one shard.
    public mutating func addForAll(_ event: (ShardID) -> KafkaEvent) {
        for index in lists.indices { lists[index].append(event(ShardID(index))) }
    }

    /// Hands the lists that are not empty to `deliver`, and empties them.
    public mutating func flush(_ deliver: (ShardID, [KafkaEvent]) -> Void) {
        for index in lists.indices where !lists[index].isEmpty {
            deliver(ShardID(index), lists[index])
            lists[index] = []
        }
    }
}
