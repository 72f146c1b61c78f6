import KafkaIO
import KafkaModel
import NewsModel
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(15)))
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
            if var end {
                // Numbers of incarnations begin with the time.
                end.incarnations = [:]
                return Restored(entries: entries, end: end)
            }
        }
    }

    func failed(_ shards: Shards, _ results: TopicPartition) async throws -> KafkaFailure {
        try await shards.next {
            if case .restoreFailed(_, _, results, let failure) = $0 { failure } else { nil }
        }
    }

    func restore(
        _ driver: KafkaDriver, _ broker: Broker, _ results: TopicPartition, _ generation: Generation,
        _ start: RestoreStart
    ) {
        driver.carryOut(
            .restore(live, generation, results: results, sources: [broker.partition("news", results.partition)], start))
    }

    func produce(_ count: Int, _ driver: KafkaDriver, _ shards: Shards, _ broker: Broker) async throws {
        for index in 0..<count {
            let record = ProducedRecord(
                topic: broker.topic("results"), partition: 0, key: Array("id\(index)".utf8),
                value: Array(repeating: 0, count: 100),
                headers: index == 3
                    ? [] : [.init("nw-source", "news/0/\(index)/template"), .init("nw-outcome", "accepted")],
                timestamp: hourAgo + .milliseconds(index))
            #expect(driver.produce(record, UInt64(index)))
            // Some brokers report the end of a partition correctly only after batches of one record.
            if index == count - 2 { _ = try await shards.stored(count - 1) }
        }
        _ = try await shards.stored(1)
    }

    @Test func `a restore reads from the committed offset minus the window to the end`() async throws {
        let broker = try Broker(("news", 1), ("results", 1))
        let (driver, shards) = try KafkaDriverTests.started(broker)
        let generation = try await shards.assigned().generation
        try await produce(1000, driver, shards, broker)
        let results = broker.partition("results", 0)
        driver.carryOut(.commit(live, generation, [.init(results, 400)]))
        try await shards.next { if case .committed = $0 { () } else { nil } }

        restore(driver, broker, results, generation, RestoreStart(window: 0, since: nil))
        let exact = try await restored(shards)
        #expect(exact.end == RestoreEnd(offset: 1000, start: 400, basis: .committed))
        #expect(exact.entries.map(\.offset) == Array(400..<1000))
        #expect(
            exact.entries.first?.source == .init(partition: TopicPartition(topic: "news", partition: 0), offset: 400))
        #expect(exact.entries.first?.outcome == .accepted)
        #expect(exact.entries.first?.version == nil)
        #expect(exact.entries.first?.identity == RecordIdentity(eventID: "id400"))

        restore(driver, broker, results, generation, RestoreStart(window: 399))
        #expect(try await restored(shards).end.start == 1)
        restore(driver, broker, results, generation, RestoreStart(window: .max))
        let whole = try await restored(shards)
        // The record at 3 is not a result.
        #expect(whole.entries.map(\.offset) == Array(0..<3) + Array(4..<1000))
        try await KafkaDriverTests.finish(driver, shards)
    }

    @Test func `a restore without a committed offset starts at the time or at the end`() async throws {
        let broker = try Broker(("news", 1), ("results", 2))
        let (driver, shards) = try KafkaDriverTests.started(broker)
        let generation = try await shards.assigned().generation
        try await produce(10, driver, shards, broker)
        let results = broker.partition("results", 0)
        restore(driver, broker, results, generation, RestoreStart())
        let nothing = try await restored(shards)
        #expect(nothing.entries.isEmpty)
        #expect(nothing.end == RestoreEnd(offset: 10, start: 10, basis: .newest))
        // An empty partition is restored at once.
        restore(
            driver, broker, broker.partition("results", 1), generation, RestoreStart(since: Instant(milliseconds: 0)))
        #expect(try await restored(shards).end == RestoreEnd(offset: 0, start: 0, basis: .time))
        // The embedded broker has no time index, so it answers with the end.
        if broker.embedded == nil {
            let since = hourAgo + .milliseconds(6)
            restore(driver, broker, results, generation, RestoreStart(since: since))
            let timed = try await restored(shards)
            // Some brokers index the times of whole batches only.
            #expect(timed.end.basis == .time && timed.end.start <= 6)
            #expect(timed.entries.map(\.offset).suffix(4) == [6, 7, 8, 9])
        }
        try await KafkaDriverTests.finish(driver, shards)
    }

    @Test(.enabled(if: Broker.external == nil))
    func `a restore that fails is reported and retried`() async throws {
        let broker = try Broker(("news", 1), ("results", 1))
        let (driver, shards) = try KafkaDriverTests.started(broker)
        let generation = try await shards.assigned().generation
        try await produce(10, driver, shards, broker)
        let results = broker.partition("results", 0)
        driver.carryOut(.commit(live, generation, [.init(results, 2)]))
        try await shards.next { if case .committed = $0 { () } else { nil } }
        broker.embedded?.failNext(.offsetFetch, .groupAuthorizationFailed)
        restore(driver, broker, results, generation, RestoreStart())
        let failure = try await failed(shards, results)
        #expect(failure.code == "GROUP_AUTHORIZATION_FAILED")
        #expect(try await restored(shards).end == RestoreEnd(offset: 10, start: 2, basis: .committed))
        try await KafkaDriverTests.finish(driver, shards)
    }
}
