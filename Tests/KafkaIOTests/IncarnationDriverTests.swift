import KafkaIO
import KafkaModel
import NewsModel
import TestSupport
import Testing

/// Topics that are deleted and recreated under a running consumer. The embedded broker cannot delete topics.
@Suite(.ownThread, .timeLimit(.minutes(15)), .enabled(if: Broker.external != nil, "needs a broker that deletes topics"))
struct IncarnationDriverTests {
    func publish(_ count: Int, _ text: String, _ broker: Broker) throws {
        let publisher = try RecordPublisher(settings: broker.settings)
        for index in 0..<count {
            try publisher.publish(
                ProducedRecord(topic: broker.topic("news"), partition: 0, value: Array("\(text)\(index)".utf8)))
        }
        try publisher.flush()
    }

    @Test(arguments: [20, 50, 250])
    func `a topic recreated at once is read from its start whatever its length`(_ count: Int) async throws {
        let broker = try Broker(("news", 1), ("results", 1), ("dead", 1))
        try publish(50, "old", broker)
        let (driver, shards) = try KafkaDriverTests.started(broker)
        let generation = try await shards.assigned().generation
        let partition = broker.partition("news", 0)
        driver.carryOut(.grant(live, records: 10_000, bytes: 1 << 20))
        driver.carryOut(.resume(partition, live, generation))
        _ = try await shards.records(50)
        driver.carryOut(.commit(live, generation, [PartitionOffset(partition, 50)]))
        try await shards.next { if case .committed = $0 { () } else { nil } }

        try broker.makeAgain("news", partitions: 1)
        try publish(count, "new", broker)
        try await shards.next { if case .restarted(_, generation, partition, _) = $0 { () } else { nil } }
        while await shards.hasRecords { _ = try await shards.records(1) }
        driver.carryOut(.rewind(partition, live, generation))
        driver.carryOut(.resume(partition, live, generation))
        let records = try await shards.records(count)[partition] ?? []
        #expect(records.prefix(count).map(\.offset) == Array(0..<Int64(count)))
        #expect(records.first?.value == Array("new0".utf8))
        try await KafkaDriverTests.finish(driver, shards)
    }

    @Test func `a topic recreated while it had no reader is recognized by its next owner`() async throws {
        let broker = try Broker(("news", 1), ("results", 1), ("dead", 1))
        try publish(50, "old", broker)
        let partition = broker.partition("news", 0)
        let (first, firstShards) = try KafkaDriverTests.started(broker)
        var generation = try await firstShards.assigned().generation
        first.carryOut(.grant(live, records: 10_000, bytes: 1 << 20))
        first.carryOut(.resume(partition, live, generation))
        _ = try await firstShards.records(50)
        try await firstShards.next { if case .endReached(_, _, _, 50) = $0 { () } else { nil } }
        try broker.makeAgain("news", partitions: 1)
        // The consumer has not noticed the new topic yet.
        first.carryOut(.commit(live, generation, [PartitionOffset(partition, 50)]))
        try await firstShards.next { if case .committed = $0 { () } else { nil } }
        try await KafkaDriverTests.finish(first, firstShards)
        try publish(250, "new", broker)

        let (second, shards) = try KafkaDriverTests.started(broker)
        generation = try await shards.assigned().generation
        second.carryOut(.grant(live, records: 10_000, bytes: 1 << 20))
        second.carryOut(.resume(partition, live, generation))
        try await shards.next { if case .restarted(_, generation, partition, _) = $0 { () } else { nil } }
        try await KafkaDriverTests.finish(second, shards)
    }
}
