import KafkaIO
import KafkaModel
import NewsModel
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(15)))
struct KafkaDriverTests {
    /// Returns a started driver with one lane.
    static func started(
        _ broker: Broker, shards: Int = 1, settings: KafkaSettings? = nil
    ) throws -> (KafkaDriver, Shards) {
        let collector = Shards()
        let driver = try KafkaDriver(
            settings: settings ?? broker.settings,
            lanes: [LaneSubscription(name: "live", topics: [broker.topic("news")], partitionCount: 4)],
            resultsTopic: broker.topic("results"), deadLetterTopic: broker.topic("dead"), shards: shards,
            deliver: collector.deliver, notify: collector.notify)
        driver.start()
        return (driver, collector)
    }

    static func finish(_ driver: KafkaDriver, _ shards: Shards, shardCount: Int = 1) async throws {
        driver.close()
        for shard in 0..<shardCount {
            let generation = try await shards.next(shard: shard) {
                if case .revoked(_, let generation, _, _) = $0 { generation } else { nil }
            }
            driver.carryOut(.release(live, generation), shard: shard)
        }
        #expect(try await shards.closed().isEmpty)
    }

    func news(_ broker: Broker, _ partition: Int32, _ text: String) -> ProducedRecord {
        ProducedRecord(topic: broker.topic("news"), partition: partition, value: Array(text.utf8))
    }

    @Test func `records arrive in order in every partition, and reports carry their deliveries and offsets`()
        async throws
    {
        let broker = try Broker(("news", 3), ("results", 3))
        let (driver, shards) = try Self.started(broker)
        for index in 0..<300 {
            #expect(driver.produce(news(broker, Int32(index % 3), "\(index)"), UInt64(index)))
        }
        let stored = try await shards.stored(300)
        #expect(Set(stored.map(\.delivery.rawValue)) == Set(0..<300))
        #expect(stored.allSatisfy { $0.kind == .result && $0.offset == Int64($0.delivery.rawValue) / 3 })
        let assignment = try await shards.assigned()
        #expect(assignment.generation == Generation(1))
        #expect(assignment.partitions == (0..<3).map { broker.partition("news", $0) })
        for partition in assignment.partitions { driver.carryOut(.resume(partition, live, assignment.generation)) }
        driver.carryOut(.grant(live, records: 1000, bytes: 1 << 20))
        let records = try await shards.records(300)
        for number in 0..<3 {
            let read = records[broker.partition("news", Int32(number))] ?? []
            #expect(read.map(\.offset) == Array(0..<100))
            #expect(read.compactMap(\.value) == (0..<100).map { Array("\($0 * 3 + number)".utf8) })
        }
        try await Self.finish(driver, shards)
    }

    /// Returns after at least one full turn of the polling thread.
    func fence(_ driver: KafkaDriver, _ shards: Shards, _ broker: Broker) async throws {
        let record = ProducedRecord(topic: broker.topic("results"), partition: 0, value: nil)
        for delivery: UInt64 in 1000...1001 {
            #expect(driver.produce(record, delivery))
            #expect(try await shards.stored(1).map(\.delivery.rawValue) == [delivery])
        }
    }

    @Test func `credit is kept exactly, and a paused partition is not read`() async throws {
        let broker = try Broker(("news", 2), ("results", 2))
        let (driver, shards) = try Self.started(broker)
        for index in 0..<100 {
            #expect(driver.produce(news(broker, Int32(index % 2), "\(index)"), 1))
        }
        _ = try await shards.stored(100)
        let assignment = try await shards.assigned()
        let (first, second) = (assignment.partitions[0], assignment.partitions[1])
        driver.carryOut(.resume(first, live, assignment.generation))
        driver.carryOut(.grant(live, records: 7, bytes: 1 << 20))
        #expect(try await shards.records(7)[first]?.map(\.offset) == Array(0..<7))
        try await fence(driver, shards, broker)
        #expect(await !shards.hasRecords)
        driver.carryOut(.grant(live, records: 43, bytes: 1 << 20))
        #expect(try await shards.records(43)[first]?.map(\.offset) == Array(7..<50))
        // The first partition is empty now. A resume for another generation has no effect.
        driver.carryOut(.grant(live, records: 60, bytes: 1 << 20))
        driver.carryOut(.resume(second, live, assignment.generation.next))
        try await fence(driver, shards, broker)
        #expect(await !shards.hasRecords)
        driver.carryOut(.resume(second, live, assignment.generation))
        #expect(try await shards.records(50)[second]?.count == 50)
        try await Self.finish(driver, shards)
    }
}
