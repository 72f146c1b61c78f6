import KafkaIO
import NewsModel
import Testing

@Suite(.ownThread, .timeLimit(.minutes(2)))
struct KafkaBridgeTests {
    /// A started bridge with one lane, whose partitions are all resumed.
    static func started(
        _ broker: Broker, shards: Int = 1, settings: KafkaSettings? = nil
    ) throws -> (KafkaBridge, Shards) {
        let collector = Shards()
        let bridge = try KafkaBridge(
            settings: settings ?? broker.settings,
            lanes: [LaneSubscription(name: "live", topics: [broker.topic("news")], partitionCount: 4)],
            resultsTopic: broker.topic("results"), shards: shards, deliver: collector.deliver)
        bridge.start()
        return (bridge, collector)
    }

    static func finish(_ bridge: KafkaBridge, _ shards: Shards, lane: Int = 0, shardCount: Int = 1) async throws {
        bridge.close()
        for shard in 0..<shardCount {
            let generation = try await shards.next(shard: shard) { event -> Int? in
                switch event {
                case .revoked(_, let generation, _, _): generation
                case .closed: -1
                default: nil
                }
            }
            bridge.release(lane: lane, generation: generation, shard: shard)
        }
        try await shards.closed()
    }

    func news(_ broker: Broker, _ partition: Int32, _ text: String) -> ProducedRecord {
        ProducedRecord(topic: broker.topic("news"), partition: partition, value: Array(text.utf8))
    }

    @Test func `records arrive in order in every partition and reports carry tokens and offsets`() async throws {
        let broker = try Broker(("news", 3), ("results", 3))
        let (bridge, shards) = try Self.started(broker)
        for index in 0..<300 {
            #expect(bridge.produce(news(broker, Int32(index % 3), "\(index)"), token: UInt64(index), shard: 0))
        }
        let stored = try await shards.stored(300)
        #expect(Set(stored.map(\.token)) == Set(0..<300))
        #expect(stored.allSatisfy { $0.failure == nil && $0.offset == Int64($0.token) / 3 })
        let assignment = try await shards.assigned()
        #expect(assignment.generation == 1)
        #expect(assignment.partitions == (0..<3).map { broker.partition("news", $0) })
        for partition in assignment.partitions { bridge.resume(partition, lane: 0, generation: 1) }
        bridge.grant(lane: 0, shard: 0, records: 1000, bytes: 1 << 20)
        let records = try await shards.records(300)
        for number in 0..<3 {
            let read = records[broker.partition("news", Int32(number))] ?? []
            #expect(read.map(\.offset) == Array(0..<100))
            #expect(read.compactMap(\.value) == (0..<100).map { Array("\($0 * 3 + number)".utf8) })
        }
        try await Self.finish(bridge, shards)
    }

    /// Returns after a full turn of the polling thread and more.
    func fence(_ bridge: KafkaBridge, _ shards: Shards, _ broker: Broker) async throws {
        let record = ProducedRecord(topic: broker.topic("results"), partition: 0, value: nil)
        for token: UInt64 in 1000...1001 {
            #expect(bridge.produce(record, token: token, shard: 0))
            #expect(try await shards.stored(1).map(\.token) == [token])
        }
    }

    @Test func `credit is obeyed exactly and a held partition is not read`() async throws {
        let broker = try Broker(("news", 2), ("results", 2))
        let (bridge, shards) = try Self.started(broker)
        for index in 0..<100 {
            #expect(bridge.produce(news(broker, Int32(index % 2), "\(index)"), token: 1, shard: 0))
        }
        _ = try await shards.stored(100)
        let assignment = try await shards.assigned()
        let (first, second) = (assignment.partitions[0], assignment.partitions[1])
        bridge.resume(first, lane: 0, generation: assignment.generation)
        bridge.grant(lane: 0, shard: 0, records: 7, bytes: 1 << 20)
        #expect(try await shards.records(7)[first]?.map(\.offset) == Array(0..<7))
        try await fence(bridge, shards, broker)
        #expect(await !shards.hasRecords)
        bridge.grant(lane: 0, shard: 0, records: 43, bytes: 1 << 20)
        #expect(try await shards.records(43)[first]?.map(\.offset) == Array(7..<50))
        // The first is empty now, and a resume for another generation means nothing.
        bridge.grant(lane: 0, shard: 0, records: 60, bytes: 1 << 20)
        bridge.resume(second, lane: 0, generation: assignment.generation + 1)
        try await fence(bridge, shards, broker)
        #expect(await !shards.hasRecords)
        bridge.resume(second, lane: 0, generation: assignment.generation)
        #expect(try await shards.records(50)[second]?.count == 50)
        try await Self.finish(bridge, shards)
    }
}
