import ByteText
import KafkaIO
import KafkaModel
import NewsModel
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(15)))
struct RecordFidelityTests {
    @Test func `keys, values and headers arrive unchanged, with absent ones distinct from empty ones`() async throws {
        let broker = try Broker(("news", 1), ("results", 1))
        let (driver, shards) = try KafkaDriverTests.started(broker)
        let large = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        let time = hourAgo
        let headers = [
            RecordHeader(name: "twice", value: [1]), RecordHeader(name: "twice", value: [2]),
            RecordHeader(name: "null", value: nil), RecordHeader(name: "empty", value: []),
            RecordHeader(name: "ünï", value: Array("…".utf8)),
        ]
        let sent = [
            SourceRecord(offset: 0, timestamp: time, key: nil, value: nil),
            SourceRecord(offset: 1, timestamp: time, key: [], value: []),
            SourceRecord(offset: 2, timestamp: time, key: [0, 255], value: [0], headers: headers),
            SourceRecord(offset: 3, timestamp: time, key: Array("k".utf8), value: large),
        ]
        for record in sent {
            let produced = ProducedRecord(
                topic: broker.topic("news"), partition: 0, key: record.key, value: record.value,
                headers: record.headers, timestamp: record.timestamp)
            #expect(driver.produce(produced, DeliveryID.mask))
        }
        #expect(try await shards.stored(4).allSatisfy { $0.delivery.rawValue == DeliveryID.mask && $0.kind == .result })
        let assignment = try await shards.assigned()
        driver.carryOut(.resume(assignment.partitions[0], live, assignment.generation))
        driver.carryOut(.grant(live, records: 10, bytes: 1 << 21))
        #expect(try await shards.records(4).values.first == sent)
        let end: Int64 = try await shards.next {
            if case .endReached(_, _, _, let offset) = $0 { offset } else { nil }
        }
        #expect(end == 4)
        try await KafkaDriverTests.finish(driver, shards)
    }

    @Test func `a draft arrives as it was written although its memory is reused`() async throws {
        let broker = try Broker(("news", 1), ("results", 1))
        let (driver, shards) = try KafkaDriverTests.started(broker)
        var draft = RecordDraft()
        for number: Int64 in 0..<3 {
            draft.begin(topic: broker.topic("news"), partition: 0)
            draft.writeKey { $0.append(decimal: number) }
            if number > 0 { draft.writeValue { $0.append(String(repeating: "v", count: Int(number - 1))) } }
            draft.addHeader(RecordHeader(name: "null", value: nil))
            draft.addHeader("number") { $0.append(decimal: -number) }
            let isTaken = driver.produce(draft, delivery: DeliveryID(rawValue: 1), kind: .result, shard: ShardID(0))
            #expect(isTaken)
        }
        _ = try await shards.stored(3)
        let assignment = try await shards.assigned()
        driver.carryOut(.resume(assignment.partitions[0], live, assignment.generation))
        driver.carryOut(.grant(live, records: 10, bytes: 1 << 21))
        let read = try #require(try await shards.records(3).values.first)
        #expect(read.map(\.key) == [Array("0".utf8), Array("1".utf8), Array("2".utf8)])
        #expect(read.map(\.value) == [nil, [], Array("v".utf8)])
        for (number, record) in read.enumerated() {
            let text = number == 0 ? "0" : "-\(number)"
            #expect(record.headers == [RecordHeader(name: "null", value: nil), RecordHeader("number", text)])
        }
        try await KafkaDriverTests.finish(driver, shards)
    }

    @Test func `a record for a missing partition waits for it, and the reason is reported`() async throws {
        let broker = try Broker(("news", 1), ("results", 1))
        var settings = broker.settings
        settings.flushTimeout = .seconds(1)
        let (driver, shards) = try KafkaDriverTests.started(broker, settings: settings)
        let record = ProducedRecord(topic: broker.topic("results"), partition: 7, value: [1])
        #expect(driver.produce(record, 3))
        let reasons = try await shards.notice { if case .refused(let reasons) = $0 { reasons } else { nil } }
        #expect(reasons.map(\.topic) == [broker.topic("results")] && reasons.first?.records == 1)
        #expect(reasons.first?.failure.code == "_UNKNOWN_PARTITION")
        let assignment = try await shards.assigned()
        driver.close()
        try await shards.next { if case .revoked = $0 { () } else { nil } }
        driver.carryOut(.release(live, assignment.generation))
        #expect(try await shards.closed() == LostRecords(results: 1))
    }

    /// The second one is refused at once, because the producer knows the topic by then.
    @Test func `a held event for a missing partition of the held topic goes to another one`() async throws {
        let broker = try Broker(("news", 1), ("results", 1), ("held", 1))
        let (driver, shards) = try KafkaDriverTests.started(broker)
        _ = try await shards.assigned()
        for number: UInt64 in 1...2 {
            let record = ProducedRecord(topic: broker.topic("held"), partition: 7, key: [1], value: [2])
            #expect(driver.produce(record, delivery: DeliveryID(rawValue: number), kind: .held, shard: ShardID(0)))
            let stored: [StoredRecord] = try await shards.next {
                if case .stored(let records) = $0 { records } else { nil }
            }
            #expect(stored.map(\.delivery.rawValue) == [number])
        }
        try await KafkaDriverTests.finish(driver, shards)
    }

    @Test(arguments: [
        ("enable.auto.commit", "true"), ("enable.idempotence", "false"), ("acks", "1"), ("group.id", "x"),
        ("isolation.level", "read_uncommitted"), ("topic.blacklist", ".*"), ("test.mock.num.brokers", "2"),
        ("partition.assignment.strategy", "cooperative-sticky"), ("enable.partition.eof", "false"),
        ("auto.offset.reset", "latest"),
        ("no.such.property", "1"), ("fetch.wait.max.ms", "many"),
    ])
    func `a property that breaks a guarantee or does not exist is refused by name`(_ name: String, _ value: String) {
        let settings = KafkaSettings(bootstrapServers: ["127.0.0.1:1"], group: "g", properties: [name: value])
        let failure = #expect(throws: KafkaFailure.self) {
            try KafkaDriver(
                settings: settings, lanes: [], resultsTopic: "r", deadLetterTopic: "d", shards: 1, deliver: { _, _ in },
                notify: { _ in })
        }
        #expect(failure?.description.contains(name) == true)
    }

    @Test func `the error for a refused secret does not contain it`() {
        let settings = KafkaSettings(
            bootstrapServers: ["127.0.0.1:1"], group: "g",
            properties: ["security.protocol": "ssl", "ssl.key.pem": "-----BEGIN hunter2"])
        let failure = #expect(throws: KafkaFailure.self) { _ = try KafkaAdmin(settings: settings) }
        #expect(failure?.description.contains("hunter2") == false)
    }
}
