import KafkaIO
import KafkaModel
import NewsModel
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(15)))
struct KafkaRebalanceTests {
    typealias Revocation = (generation: Generation, partitions: [TopicPartition], lost: Bool)

    func revoked(_ shards: Shards, shard: Int? = nil) async throws -> Revocation {
        try await shards.next(shard: shard) {
            if case .revoked(_, let generation, let partitions, let lost) = $0 {
                (generation, partitions, lost)
            } else {
                nil
            }
        }
    }

    @Test func `a second member gets its share once every shard of the first has released`() async throws {
        let broker = try Broker(("news", 4), ("results", 4))
        let (first, firstShards) = try KafkaDriverTests.started(broker, shards: 2)
        let even = try await firstShards.assigned(shard: 0)
        let odd = try await firstShards.assigned(shard: 1)
        #expect(even.partitions == [broker.partition("news", 0), broker.partition("news", 2)])
        #expect(odd.partitions == [broker.partition("news", 1), broker.partition("news", 3)])

        let source = broker.partition("news", 0)
        first.carryOut(.commit(live, Generation(1), [PartitionOffset(source, 5)]))
        #expect(try await committed(firstShards).failure == nil)
        let (second, secondShards) = try KafkaDriverTests.started(broker)
        for shard in 0..<2 {
            let revocation = try await revoked(firstShards, shard: shard)
            #expect(revocation.generation == Generation(1) && !revocation.lost)
            #expect(revocation.partitions == (shard == 0 ? even : odd).partitions)
        }
        // Drained work is committed while the revocation waits. The embedded broker refuses that; others do not.
        first.carryOut(.commit(live, Generation(1), [PartitionOffset(source, 6)]))
        let refusal = broker.embedded == nil ? nil : "REBALANCE_IN_PROGRESS"
        #expect(try await committed(firstShards).failure?.code == refusal)
        first.carryOut(.release(live, Generation(1)), shard: 0)
        first.carryOut(.release(live, Generation(1)), shard: 0)
        #expect(await !secondShards.hasAssignment)
        first.carryOut(.release(live, Generation(1)), shard: 1)
        let kept = try await firstShards.assigned(shard: 0)
        let keptOdd = try await firstShards.assigned(shard: 1)
        let gained = try await secondShards.assigned()
        #expect([kept, keptOdd].allSatisfy { $0.generation == Generation(2) } && gained.generation == Generation(1))
        #expect(Set(kept.partitions + keptOdd.partitions + gained.partitions).count == 4)
        // The embedded broker may form the new generation before a busy first member has rejoined.
        #expect(broker.embedded == nil ? gained.partitions.count == 2 : gained.partitions.count >= 2)

        // A late commit of the old generation always fails.
        first.carryOut(.commit(live, Generation(1), [PartitionOffset(source, 3)]))
        #expect(try await committed(firstShards).failure?.code == "_STALE_GENERATION")
        let admin = try KafkaAdmin(settings: broker.settings)
        let read = try admin.committed(group: broker.settings.group, [source])
        #expect(read == [source: broker.embedded == nil ? 6 : 5])

        // The second member leaves at once, and the first gets all partitions again.
        try await KafkaDriverTests.finish(second, secondShards)
        for shard in 0..<2 {
            first.carryOut(.release(live, try await revoked(firstShards, shard: shard).generation), shard: shard)
        }
        let all = try await firstShards.assigned(shard: 0).partitions + firstShards.assigned(shard: 1).partitions
        #expect(all.count == 4)
        try await KafkaDriverTests.finish(first, firstShards, shardCount: 2)
    }

    func committed(_ shards: Shards) async throws -> (offsets: [PartitionOffset], failure: KafkaFailure?) {
        try await shards.next {
            if case .committed(_, _, let offsets, let failure) = $0 { (offsets, failure) } else { nil }
        }
    }

    @Test func `one request commits the source offset and the ledger offset`() async throws {
        let broker = try Broker(("news", 1), ("results", 1))
        let (driver, shards) = try KafkaDriverTests.started(broker)
        let generation = try await shards.assigned().generation
        let offsets = [PartitionOffset(broker.partition("news", 0), 11), .init(broker.partition("results", 0), 22)]
        driver.carryOut(.commit(live, generation, offsets))
        let answer = try await committed(shards)
        #expect(answer.failure == nil)
        #expect(Set(answer.offsets) == Set(offsets))
        let admin = try KafkaAdmin(settings: broker.settings)
        let read = try admin.committed(group: broker.settings.group, offsets.map(\.partition))
        #expect(read == [broker.partition("news", 0): 11, broker.partition("results", 0): 22])
        try await KafkaDriverTests.finish(driver, shards)
    }

    @Test func `a refused commit is reported`() async throws {
        let broker = try Broker(("news", 1), ("results", 1))
        guard let embedded = broker.embedded else { return }
        let (driver, shards) = try KafkaDriverTests.started(broker)
        let generation = try await shards.assigned().generation
        embedded.failNext(.offsetCommit, .groupAuthorizationFailed)
        driver.carryOut(.commit(live, generation, [.init(broker.partition("news", 0), 1)]))
        let failure = try await committed(shards).failure
        #expect(failure?.code == "GROUP_AUTHORIZATION_FAILED")
        #expect(failure?.description.contains("READ") == true)
        try await KafkaDriverTests.finish(driver, shards)
    }

    @Test func `a commit reports the refused partitions`() async throws {
        let broker = try Broker(("news", 1), ("results", 1))
        let (driver, shards) = try KafkaDriverTests.started(broker)
        let generation = try await shards.assigned().generation
        let good = PartitionOffset(broker.partition("news", 0), 3)
        driver.carryOut(.commit(live, generation, [good, PartitionOffset(broker.partition("results", 7), 4)]))
        let answer: ([PartitionOffset], KafkaFailure?) = try await shards.next {
            if case .committed(_, generation, let offsets, let failure) = $0 { (offsets, failure) } else { nil }
        }
        #expect(answer.0 == [good])
        #expect(answer.1?.code == "UNKNOWN_TOPIC_OR_PART")
        try await KafkaDriverTests.finish(driver, shards)
    }

    @Test func `close stores all produced records before it leaves`() async throws {
        let broker = try Broker(("news", 1), ("results", 1))
        let (driver, shards) = try KafkaDriverTests.started(broker)
        _ = try await shards.assigned()
        for token in 0..<500 {
            let record = ProducedRecord(topic: broker.topic("results"), partition: 0, value: [1])
            #expect(driver.produce(record, UInt64(token)))
        }
        try await KafkaDriverTests.finish(driver, shards)
        #expect(try await shards.stored(500).allSatisfy { $0.kind == .result })
        let reader = try TopicReader(settings: broker.settings, topic: broker.topic("results"))
        var count = 0
        while !reader.isAtEnd { count += try reader.next().count }
        #expect(count == 500)
    }

    @Test func `a driver that was never started can be closed`() async throws {
        let broker = try Broker(("news", 1), ("results", 1))
        let shards = Shards()
        let driver = try KafkaDriver(
            settings: broker.settings, lanes: [LaneSubscription(name: "live", topics: [broker.topic("news")])],
            resultsTopic: broker.topic("results"), deadLetterTopic: "dead", shards: 3, deliver: shards.deliver,
            notify: shards.notify)
        driver.close()
        #expect(try await shards.closed().isEmpty)
    }

    @Test(.enabled(if: Broker.external == nil))
    func `close without a broker stops in time and reports the records not stored`() async throws {
        let broker = try Broker(("news", 1), ("results", 1))
        var settings = broker.settings
        settings.releaseTimeout = .seconds(1)
        settings.flushTimeout = .seconds(1)
        let (driver, shards) = try KafkaDriverTests.started(broker, settings: settings)
        _ = try await shards.assigned()
        broker.embedded?.setDown()
        #expect(
            driver.produce(
                ProducedRecord(topic: broker.topic("results"), partition: 0, value: [1]), 5))
        // No shard releases its partitions.
        driver.close()
        _ = try await revoked(shards)
        #expect(try await shards.closed() == LostRecords(results: 1))
    }

    @Test(.enabled(if: Broker.external != nil, "the embedded broker creates every topic it is asked for"))
    func `a missing topic of a lane is reported by name`() async throws {
        let broker = try Broker(("results", 1))
        let (driver, shards) = try KafkaDriverTests.started(broker)
        let failure = try await shards.error()
        #expect(failure.code == "UNKNOWN_TOPIC_OR_PART")
        #expect(failure.description.contains(broker.topic("news")))
        driver.close()
        try await shards.closed()
    }

    @Test(.enabled(if: Broker.external == nil))
    func `a broker that goes down is reported, and its return is noticed`() async throws {
        let broker = try Broker(("news", 1), ("results", 1))
        let (driver, shards) = try KafkaDriverTests.started(broker)
        let assignment = try await shards.assigned()
        driver.carryOut(.resume(assignment.partitions[0], live, assignment.generation))
        driver.carryOut(.grant(live, records: 10, bytes: 10_000))
        broker.embedded?.setDown()
        let failure = try await shards.error()
        #expect(failure.isRetriable)
        #expect(failure.description.contains("bootstrapServers"))
        let record = ProducedRecord(topic: broker.topic("news"), partition: 0, value: [7])
        #expect(driver.produce(record, 9))
        broker.embedded?.setUp()
        #expect(try await shards.stored(1).first?.delivery == DeliveryID(rawValue: 9))
        #expect(try await shards.records(1).values.first?.first?.value == [7])
        driver.close()
        driver.carryOut(.release(live, assignment.generation), shard: 0)
        let revocation = try await revoked(shards)
        driver.carryOut(.release(live, revocation.generation), shard: 0)
        try await shards.closed()
    }
}
