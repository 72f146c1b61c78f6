import KafkaIO
import NewsModel
import Testing

@Suite(.ownThread, .timeLimit(.minutes(2)))
struct RecordFidelityTests {
    @Test func `keys, values and headers arrive as they left, absent and empty told apart`() async throws {
        let broker = try Broker(("news", 1), ("results", 1))
        let (bridge, shards) = try KafkaBridgeTests.started(broker)
        let large = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        let time = Instant(milliseconds: 1_700_000_000_123)
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
            #expect(bridge.produce(produced, token: KafkaBridge.largestToken, shard: 0))
        }
        #expect(try await shards.stored(4).allSatisfy { $0.token == KafkaBridge.largestToken && $0.failure == nil })
        let assignment = try await shards.assigned()
        bridge.resume(assignment.partitions[0], lane: 0, generation: assignment.generation)
        bridge.grant(lane: 0, shard: 0, records: 10, bytes: 1 << 21)
        #expect(try await shards.records(4).values.first == sent)
        let end: Int64 = try await shards.next {
            if case .endReached(_, _, _, let offset) = $0 { offset } else { nil }
        }
        #expect(end == 4)
        try await KafkaBridgeTests.finish(bridge, shards)
    }

    @Test func `a record for a partition that does not exist fails with its token`() async throws {
        let broker = try Broker(("news", 1), ("results", 1))
        let (bridge, shards) = try KafkaBridgeTests.started(broker)
        let record = ProducedRecord(topic: broker.topic("results"), partition: 7, value: [1])
        #expect(bridge.produce(record, token: 3, shard: 0))
        let stored = try await shards.stored(1)
        #expect(stored.first?.token == 3)
        #expect(stored.first?.failure?.code == "_UNKNOWN_PARTITION")
        _ = try await shards.assigned()
        try await KafkaBridgeTests.finish(bridge, shards)
    }

    @Test(arguments: [
        ("enable.auto.commit", "true"), ("enable.idempotence", "false"), ("acks", "1"), ("group.id", "x"),
        ("partition.assignment.strategy", "cooperative-sticky"), ("enable.partition.eof", "false"),
        ("no.such.property", "1"), ("fetch.wait.max.ms", "many"),
    ])
    func `a property that breaks a guarantee or does not exist is refused by name`(_ name: String, _ value: String) {
        let settings = KafkaSettings(bootstrapServers: ["127.0.0.1:1"], group: "g", properties: [name: value])
        let failure = #expect(throws: KafkaFailure.self) {
            try KafkaBridge(settings: settings, lanes: [], resultsTopic: "r", shards: 1) { _, _ in }
        }
        #expect(failure?.description.contains(name) == true)
    }

    @Test func `a refused secret is not repeated`() {
        let settings = KafkaSettings(
            bootstrapServers: ["127.0.0.1:1"], group: "g",
            properties: ["security.protocol": "ssl", "ssl.key.pem": "-----BEGIN hunter2"])
        let failure = #expect(throws: KafkaFailure.self) { _ = try KafkaAdmin(settings: settings) }
        #expect(failure?.description.contains("hunter2") == false)
    }
}
