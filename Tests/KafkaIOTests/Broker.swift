import Dispatch
import Foundation
import KafkaIO
import NewsModel
import Testing

/// The broker a test runs against: the embedded one, or a real one named by `NEWSWIRE_TEST_BROKERS`.
struct Broker {
    let embedded: EmbeddedBroker?
    let settings: KafkaSettings
    private let suffix = UUID().uuidString.prefix(8).lowercased()

    static let external = ProcessInfo.processInfo.environment["NEWSWIRE_TEST_BROKERS"]

    init(_ topics: (String, Int)...) throws {
        let suffix = suffix
        let named = topics.map { ("\($0.0).\(suffix)", $0.1) }
        if let servers = Self.external {
            embedded = nil
            settings = KafkaSettings(
                bootstrapServers: servers.split(separator: ",").map(String.init), group: "test.\(suffix)",
                properties: ["session.timeout.ms": "6000", "heartbeat.interval.ms": "1000"])
            try KafkaAdmin(settings: settings).create(named.map { .init(name: $0.0, partitions: $0.1) })
        } else {
            let broker = try EmbeddedBroker(topics: named)
            embedded = broker
            settings = broker.settings(group: "test.\(suffix)")
        }
    }

    func topic(_ name: String) -> String { "\(name).\(suffix)" }

    func partition(_ name: String, _ number: Int32) -> TopicPartition {
        TopicPartition(topic: topic(name), partition: number)
    }
}

/// Runs a test on a thread of its own: blocking calls must not hold up the tests beside it.
struct OwnThread: TestTrait, SuiteTrait, TestScoping {
    var isRecursive: Bool { true }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(QueueExecutor()) { try await function() }
    }

    private final class QueueExecutor: TaskExecutor {
        private let queue = DispatchQueue(label: "test")

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
        }
    }
}

extension Trait where Self == OwnThread {
    static var ownThread: Self { OwnThread() }
}

/// Collects the events of a bridge's shards; `next` awaits the first that fits, among old and new ones.
actor Shards {
    private var events: [(shard: Int, event: KafkaEvent)] = []
    private let stream: AsyncStream<(Int, [KafkaEvent])>
    private let source: AsyncStream<(Int, [KafkaEvent])>.Continuation
    private var reader: AsyncStream<(Int, [KafkaEvent])>.AsyncIterator

    init() {
        (stream, source) = AsyncStream.makeStream()
        reader = stream.makeAsyncIterator()
    }

    nonisolated var deliver: @Sendable (Int, [KafkaEvent]) -> Void {
        { [source] in source.yield(($0, $1)) }
    }

    /// Removes and returns the first event that `match` makes something of.
    func next<T: Sendable>(shard: Int? = nil, _ match: (KafkaEvent) -> T?) async throws -> T {
        while true {
            for (index, entry) in events.enumerated() where shard == nil || entry.shard == shard {
                guard let found = match(entry.event) else { continue }
                events.remove(at: index)
                return found
            }
            var iterator = reader
            let batch = await iterator.next(isolation: self)
            reader = iterator
            guard let (shard, new) = batch else { throw CancellationError() }
            events += new.map { (shard, $0) }
        }
    }

    /// What came and was not asked for yet.
    var pending: [KafkaEvent] { events.map(\.event) }

    var hasRecords: Bool { pending.contains { if case .records = $0 { true } else { false } } }
}

extension Shards {
    struct Assignment: Sendable {
        var generation: Int
        var partitions: [TopicPartition]
    }

    func assigned(shard: Int? = nil) async throws -> Assignment {
        try await next(shard: shard) {
            if case .assigned(_, let generation, let partitions) = $0 {
                Assignment(generation: generation, partitions: partitions)
            } else {
                nil
            }
        }
    }

    func records(_ count: Int) async throws -> [TopicPartition: [SourceRecord]] {
        var result: [TopicPartition: [SourceRecord]] = [:]
        var seen = 0
        while seen < count {
            let (partition, records): (TopicPartition, [SourceRecord]) = try await next {
                if case .records(_, _, let partition, let records) = $0 { (partition, records) } else { nil }
            }
            result[partition, default: []] += records
            seen += records.count
        }
        return result
    }

    func stored(_ count: Int) async throws -> [StoredRecord] {
        var result: [StoredRecord] = []
        while result.count < count {
            result += try await next { if case .stored(let records) = $0 { records } else { nil } }
        }
        return result
    }

    func closed() async throws {
        try await next { if case .closed = $0 { () } else { nil } }
    }
}

extension Shards {
    var hasAssignment: Bool { pending.contains { if case .assigned = $0 { true } else { false } } }
}
