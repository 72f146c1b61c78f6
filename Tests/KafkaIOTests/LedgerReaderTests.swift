import KafkaIO
import NewsModel
import Testing

@Suite(.ownThread, .timeLimit(.minutes(2)))
struct LedgerReaderTests {
    struct Restored: Sendable {
        var entries: [LedgerEntry]
        var end: RestoreEnd
    }

    func restored(_ shards: Shards) async throws -> Restored {
        var entries: [LedgerEntry] = []
        while true {
            let (new, end): ([LedgerEntry], RestoreEnd?) = try await shards.next {
                if case .restored(_, _, _, let entries, let end) = $0 { (entries, end) } else { nil }
            }
            entries += new
            if let end { return Restored(entries: entries, end: end) }
        }
    }

    func produce(_ count: Int, _ bridge: KafkaBridge, _ shards: Shards, _ broker: Broker) async throws {
        for index in 0..<count {
            let record = ProducedRecord(
                topic: broker.topic("results"), partition: 0, key: Array("id\(index)".utf8),
                value: Array(repeating: 0, count: 100),
                headers: index == 3
                    ? [] : [.init("nw-source", "news/0/\(index)/template"), .init("nw-outcome", "accepted")],
                timestamp: Instant(milliseconds: 1_700_000_000_000 + Int64(index)))
            #expect(bridge.produce(record, token: UInt64(index), shard: 0))
            // Some brokers tell the end of a partition right only after batches of one record.
            if index == count - 2 { _ = try await shards.stored(count - 1) }
        }
        _ = try await shards.stored(1)
    }

    @Test func `a restore reads from the committed offset, less the window, to the end`() async throws {
        let broker = try Broker(("news", 1), ("results", 1))
        let (bridge, shards) = try KafkaBridgeTests.started(broker)
        let generation = try await shards.assigned().generation
        try await produce(1000, bridge, shards, broker)
        let results = broker.partition("results", 0)
        bridge.commit(lane: 0, generation: generation, shard: 0, offsets: [.init(results, 400)])
        try await shards.next { if case .committed = $0 { () } else { nil } }

        bridge.restore(
            lane: 0, shard: 0, results: results, generation: generation, from: RestoreStart(window: 0, since: nil))
        let exact = try await restored(shards)
        #expect(exact.end == RestoreEnd(offset: 1000, start: 400, basis: .committed))
        #expect(exact.entries.map(\.offset) == Array(400..<1000))
        #expect(exact.entries.first?.source == Array("news/0/400/template".utf8))
        #expect(exact.entries.first?.outcome == Array("accepted".utf8))
        #expect(exact.entries.first?.version == nil)
        #expect(exact.entries.first?.key == Array("id400".utf8))
        #expect(exact.entries.first?.timestamp == Instant(milliseconds: 1_700_000_000_400))

        bridge.restore(lane: 0, shard: 0, results: results, generation: generation, from: RestoreStart(window: 399))
        #expect(try await restored(shards).end.start == 1)
        bridge.restore(lane: 0, shard: 0, results: results, generation: generation, from: RestoreStart(window: .max))
        let whole = try await restored(shards)
        // The record at 3 is no result.
        #expect(whole.entries.map(\.offset) == Array(0..<3) + Array(4..<1000))
        try await KafkaBridgeTests.finish(bridge, shards)
    }

    @Test func `without a committed offset a restore begins at the time, or at the end`() async throws {
        let broker = try Broker(("news", 1), ("results", 2))
        let (bridge, shards) = try KafkaBridgeTests.started(broker)
        let generation = try await shards.assigned().generation
        try await produce(10, bridge, shards, broker)
        let results = broker.partition("results", 0)
        bridge.restore(lane: 0, shard: 0, results: results, generation: generation, from: RestoreStart())
        let nothing = try await restored(shards)
        #expect(nothing.entries.isEmpty)
        #expect(nothing.end == RestoreEnd(offset: 10, start: 10, basis: .nothing))
        // An empty partition is restored at once.
        bridge.restore(
            lane: 0, shard: 0, results: broker.partition("results", 1), generation: generation,
            from: RestoreStart(since: Instant(milliseconds: 0)))
        #expect(try await restored(shards).end == RestoreEnd(offset: 0, start: 0, basis: .time))
        // The embedded broker knows no times: it answers with the end.
        if broker.embedded == nil {
            let since = Instant(milliseconds: 1_700_000_000_006)
            bridge.restore(
                lane: 0, shard: 0, results: results, generation: generation, from: RestoreStart(since: since))
            let timed = try await restored(shards)
            // Some brokers know the times of whole batches only.
            #expect(timed.end.basis == .time && timed.end.start <= 6)
            #expect(timed.entries.map(\.offset).suffix(4) == [6, 7, 8, 9])
        }
        try await KafkaBridgeTests.finish(bridge, shards)
    }

    @Test(.enabled(if: Broker.external == nil))
    func `a restore that fails is told and tried again`() async throws {
        let broker = try Broker(("news", 1), ("results", 1))
        let (bridge, shards) = try KafkaBridgeTests.started(broker)
        let generation = try await shards.assigned().generation
        try await produce(10, bridge, shards, broker)
        let results = broker.partition("results", 0)
        bridge.commit(lane: 0, generation: generation, shard: 0, offsets: [.init(results, 2)])
        try await shards.next { if case .committed = $0 { () } else { nil } }
        broker.embedded?.failNext(.offsetFetch, .groupAuthorizationFailed)
        bridge.restore(lane: 0, shard: 0, results: results, generation: generation, from: RestoreStart())
        let failure: KafkaFailure = try await shards.next {
            if case .trouble(let failure) = $0 { failure } else { nil }
        }
        #expect(failure.code == "GROUP_AUTHORIZATION_FAILED")
        #expect(try await restored(shards).end == RestoreEnd(offset: 10, start: 2, basis: .committed))
        try await KafkaBridgeTests.finish(bridge, shards)
    }
}
