/// Events gathered in one turn of the polling thread, a list for each shard.
struct Outbox {
    private var events: [[KafkaEvent]]

    init(shards: Int) {
        events = Array(repeating: [], count: shards)
    }

    var shards: Range<Int> { events.indices }

    func shard(of partition: Int32) -> Int { Int(partition.magnitude) % events.count }

    mutating func add(_ event: KafkaEvent, shard: Int) {
        guard events.indices.contains(shard) else { return }
        events[shard].append(event)
    }

    mutating func addToAll(_ event: (_ shard: Int) -> KafkaEvent) {
        for shard in shards { events[shard].append(event(shard)) }
    }

    mutating func flush(_ deliver: (Int, [KafkaEvent]) -> Void) {
        for shard in shards where !events[shard].isEmpty {
            deliver(shard, events[shard])
            events[shard] = []
        }
    }
}
