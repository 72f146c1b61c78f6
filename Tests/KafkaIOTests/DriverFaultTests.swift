import KafkaIO
import KafkaModel
import NewsModel
import TestSupport
import Testing

/// Broker faults that affect single partitions and records.
@Suite(.ownThread, .timeLimit(.minutes(15)), .enabled(if: Broker.external == nil))
struct DriverFaultTests {
    func refused(_ shards: Shards) async throws -> [RefusedRecords.Reason] {
        try await shards.notice { if case .refused(let reasons) = $0 { reasons } else { nil } }
    }

    @Test func `records whose batch is too large are stored individually and unchanged`() async throws {
        let broker = try Broker(("news", 1), ("results", 1), ("dead", 1), ("held", 1))
        let (driver, shards) = try KafkaDriverTests.started(broker)
        _ = try await shards.assigned()
        let headers = [RecordHeader("ce_large", "x"), RecordHeader("nw-outcome", "rejected")]
        for (name, kind) in [("results", StoredRecord.Kind.result), ("dead", .deadLetter), ("held", .held)] {
            broker.embedded?.failNext(.produce, .messageTooLarge)
            for number in UInt64(1)...3 {
                let record = ProducedRecord(
                    topic: broker.topic(name), partition: 0, key: [1], value: [UInt8(number)], headers: headers)
                let isTaken = driver.produce(
                    record, delivery: DeliveryID(rawValue: number), kind: kind, shard: ShardID(0))
                #expect(isTaken)
            }
            _ = try await shards.stored(3)
            let reader = try TopicReader(settings: broker.settings, topic: broker.topic(name))
            var values: Set<[UInt8]?> = []
            while !reader.isAtEnd {
                for read in try reader.next() {
                    values.insert(read.record.value)
                    #expect(read.record.headers == headers && read.record.key == [1])
                }
            }
            #expect(values == [[1], [2], [3]], "\(name)")
        }
        #expect(await !shards.hasLargeOriginals)
        try await KafkaDriverTests.finish(driver, shards)
    }

    @Test func `a record that is too large alone is stored in its smallest form`() async throws {
        let broker = try Broker(("news", 1), ("results", 1))
        let (driver, shards) = try KafkaDriverTests.started(broker)
        _ = try await shards.assigned()
        broker.embedded?.failNext(.produce, .messageTooLarge, count: 2)
        let headers = [RecordHeader("ce_large", "x"), RecordHeader("nw-outcome", "accepted")]
        let result = ProducedRecord(
            topic: broker.topic("results"), partition: 0, key: [1], value: [2], headers: headers)
        #expect(driver.produce(result, delivery: DeliveryID(rawValue: 7), kind: .result, shard: ShardID(0)))
        #expect(try await refused(shards).first?.failure.code == "MSG_SIZE_TOO_LARGE")
        #expect(try await refused(shards).isEmpty)
        #expect(
            try await shards.stored(1) == [
                StoredRecord(delivery: DeliveryID(rawValue: 7), kind: .result, offset: 0, isAlone: true)
            ])
        let reader = try TopicReader(settings: broker.settings, topic: broker.topic("results"))
        var read: [SourceRecord] = []
        while !reader.isAtEnd { read += try reader.next().map(\.record) }
        #expect(read.map(\.headers) == [[headers[1]]] && read.map(\.key) == [[1]] && read.map(\.value) == [[2]])
        try await KafkaDriverTests.finish(driver, shards)
    }

    @Test func `a dead letter that is refused repeatedly keeps its kind and all headers`() async throws {
        let broker = try Broker(("news", 1), ("results", 1), ("dead", 1))
        let (driver, shards) = try KafkaDriverTests.started(broker, shards: 2)
        _ = try await shards.assigned()
        broker.embedded?.failNext(.produce, .topicAuthorizationFailed, count: 2)
        let letter = ProducedRecord(
            topic: broker.topic("dead"), partition: 0, value: [2], headers: [RecordHeader("ce_large", "x")])
        let delivery = DeliveryID(rawValue: DeliveryID.mask)
        #expect(driver.produce(letter, delivery: delivery, kind: .deadLetter, shard: ShardID(1)))
        let reasons = try await refused(shards)
        #expect(reasons.map(\.topic) == [broker.topic("dead")])
        #expect(reasons.first?.failure.description.contains("WRITE") == true)
        let stored: [StoredRecord] = try await shards.next(shard: 1) {
            if case .stored(let records) = $0 { records } else { nil }
        }
        #expect(stored == [StoredRecord(delivery: delivery, kind: .deadLetter, offset: 0)])
        try await KafkaDriverTests.finish(driver, shards, shardCount: 2)
    }

    @Test func `a results partition without a leader delays no other, and is read once it has one`()
        async throws
    {
        let broker = try Broker(("news", 2), ("results", 2))
        let (driver, shards) = try KafkaDriverTests.started(broker)
        let generation = try await shards.assigned().generation
        let absent = broker.partition("results", 0)
        broker.embedded?.takeOffline(absent)
        let began = ContinuousClock.now
        for number in Int32(0)..<2 {
            driver.carryOut(
                .restore(
                    live, generation, results: broker.partition("results", number),
                    sources: [broker.partition("news", number)], RestoreStart()))
        }
        func restored() async throws -> TopicPartition {
            try await shards.next { if case .restored(_, _, let results, _, _?) = $0 { results } else { nil } }
        }
        let failure: KafkaFailure = try await shards.next {
            if case .restoreFailed(_, _, absent, let failure) = $0 { failure } else { nil }
        }
        #expect(failure.code == "LEADER_NOT_AVAILABLE")
        #expect(try await restored() == broker.partition("results", 1))
        #expect(ContinuousClock.now - began < .seconds(5))
        broker.embedded?.bringOnline(absent)
        #expect(try await restored() == absent)
        try await KafkaDriverTests.finish(driver, shards)
    }

    @Test func `a results topic with too few partitions fails only for the missing ones, with a remedy`() async throws {
        let broker = try Broker(("news", 2), ("results", 1))
        let (driver, shards) = try KafkaDriverTests.started(broker)
        let generation = try await shards.assigned().generation
        let lacking = broker.partition("results", 1)
        driver.carryOut(
            .restore(live, generation, results: lacking, sources: [broker.partition("news", 1)], RestoreStart()))
        let failure: KafkaFailure = try await shards.next {
            if case .restoreFailed(_, _, lacking, let failure) = $0 { failure } else { nil }
        }
        #expect(failure.code == "_RESULTS_TOO_FEW" && failure.description.contains("topics --create --config FILE"))
        try await KafkaDriverTests.finish(driver, shards)
    }

    @Test func `a partition that may not be read is unreadable until it may be read, although no record comes`()
        async throws
    {
        let broker = try Broker(("news", 1), ("results", 1), ("dead", 1))
        let (driver, shards) = try KafkaDriverTests.started(broker)
        let assignment = try await shards.assigned()
        driver.carryOut(.resume(assignment.partitions[0], live, assignment.generation))
        driver.carryOut(.grant(live, records: 10, bytes: 1 << 20))
        try await shards.next { if case .endReached = $0 { () } else { nil } }
        broker.embedded?.failNext(.fetch, .topicAuthorizationFailed, count: 10_000)
        func unreadable() async throws -> [TopicPartition: KafkaFailure] {
            try await shards.notice { if case .unreadable(live, let failures) = $0 { failures } else { nil } }
        }
        let failures = try await unreadable()
        #expect(failures.mapValues(\.code) == [broker.partition("news", 0): "TOPIC_AUTHORIZATION_FAILED"])
        broker.embedded?.serve(.fetch)
        #expect(try await unreadable().isEmpty)
        try await KafkaDriverTests.finish(driver, shards)
    }

    @Test func `partition counts follow an assignment and carry its generation`() async throws {
        let broker = try Broker(("news", 2), ("results", 3), ("dead", 1))
        let (driver, shards) = try KafkaDriverTests.started(broker, shards: 2)
        let generation = try await shards.assigned(shard: 1).generation
        let counts: [String: Int] = try await shards.next(shard: 1) {
            if case .partitionCounts(let counts, [generation]) = $0 { counts } else { nil }
        }
        #expect(counts == [broker.topic("news"): 2, broker.topic("results"): 3, broker.topic("dead"): 1])
        try await KafkaDriverTests.finish(driver, shards, shardCount: 2)
    }
}
