import CRdkafka
import KafkaModel
import NewsModel
import TestSupport
import Testing

@testable import KafkaIO

/// Records that are deleted before they are read. The embedded broker cannot delete records.
@Suite(
    .ownThread, .timeLimit(.minutes(15)), .enabled(if: Broker.external != nil, "needs a broker that deletes records"))
struct RemovalDriverTests {
    private func publish(_ count: Int, _ broker: Broker) throws {
        let publisher = try RecordPublisher(settings: broker.settings)
        for index in 0..<count {
            try publisher.publish(
                ProducedRecord(topic: broker.topic("news"), partition: 0, value: Array("\(index)".utf8)))
        }
        try publisher.flush()
    }

    @Test func `records deleted while nobody read them are reported with their offsets`() async throws {
        let broker = try Broker(("news", 1), ("results", 1), ("dead", 1))
        let partition = broker.partition("news", 0)
        let (first, firstShards) = try KafkaDriverTests.started(broker)
        let generation = try await firstShards.assigned().generation
        first.carryOut(.commit(live, generation, [PartitionOffset(partition, 20)]))
        try await firstShards.next { if case .committed = $0 { () } else { nil } }
        try await KafkaDriverTests.finish(first, firstShards)
        try publish(600, broker)
        try broker.delete(partition, below: 590)

        let shards = Shards()
        let (removals, found) = AsyncStream<RemovedRecords>.makeStream()
        let driver = try KafkaDriver(
            settings: broker.settings, lanes: [LaneSubscription(name: "live", topics: [broker.topic("news")])],
            resultsTopic: broker.topic("results"), deadLetterTopic: broker.topic("dead"), shards: 1,
            deliver: shards.deliver, onRemoval: { found.yield($1) }, notify: shards.notify)
        driver.start()
        let again = try await shards.assigned().generation
        driver.carryOut(
            .restore(
                live, again, results: broker.partition("results", 0), sources: [partition], RestoreStart(window: 0)))
        try await shards.next { if case .restored(_, _, _, _, _?) = $0 { () } else { nil } }
        driver.carryOut(.grant(live, records: 10_000, bytes: 1 << 20))
        driver.carryOut(.resume(partition, live, again))
        let records = try await shards.records(10)[partition] ?? []
        #expect(records.map(\.offset) == Array(590..<600))
        var removed = removals.makeAsyncIterator()
        #expect(await removed.next() == RemovedRecords(partition, 20..<590))
        try await KafkaDriverTests.finish(driver, shards)
    }
}
