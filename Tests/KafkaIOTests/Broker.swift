import Foundation
import KafkaIO
import KafkaModel
import NewsModel
import Testing

/// The broker used by a test: the embedded one, or a real one named by `NEWSWIRE_TEST_BROKERS`.
struct Broker {
    let embedded: EmbeddedBroker?
    let settings: KafkaSettings
    private let suffix = UUID().uuidString.prefix(8).lowercased()

    static let external = ProcessInfo.processInfo.environment["NEWSWIRE_TEST_BROKERS"]

    /// The embedded broker does not find records by time.
    var knowsTimes: Bool { embedded == nil }

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

/// Collects the output of a driver. `next` and `notice` wait for the first match among past and future output.
actor Shards {
    private enum Saying: Sendable {
        case events(ShardID, [KafkaEvent])
        case notice(KafkaNotice)
    }

    private var events: [(shard: ShardID, event: KafkaEvent)] = []
    private var notices: [KafkaNotice] = []
    private let stream: AsyncStream<Saying>
    private let source: AsyncStream<Saying>.Continuation
    private var reader: AsyncStream<Saying>.AsyncIterator

    init() {
        (stream, source) = AsyncStream.makeStream()
        reader = stream.makeAsyncIterator()
    }

    nonisolated var deliver: @Sendable (ShardID, [KafkaEvent]) -> Void {
        { [source] in source.yield(.events($0, $1)) }
    }

    nonisolated var notify: @Sendable (KafkaNotice) -> Void {
        { [source] in source.yield(.notice($0)) }
    }

    private func wait() async throws {
        var iterator = reader
        let saying = await iterator.next(isolation: self)
        reader = iterator
        switch saying {
        case .events(let shard, let new)?: events += new.map { (shard, $0) }
        case .notice(let notice)?: notices.append(notice)
        case nil: throw CancellationError()
        }
    }

    /// Removes and returns the result of `match` for the first event that it accepts.
    func next<T: Sendable>(shard: Int? = nil, _ match: (KafkaEvent) -> T?) async throws -> T {
        while true {
            for (index, entry) in events.enumerated() where shard == nil || entry.shard.index == shard {
                guard let found = match(entry.event) else { continue }
                events.remove(at: index)
                return found
            }
            try await wait()
        }
    }

    /// Removes and returns the result of `match` for the first notice that it accepts.
    func notice<T: Sendable>(_ match: (KafkaNotice) -> T?) async throws -> T {
        while true {
            for (index, notice) in notices.enumerated() {
                guard let found = match(notice) else { continue }
                notices.remove(at: index)
                return found
            }
            try await wait()
        }
    }

    /// Events that were not requested yet.
    var pending: [KafkaEvent] { events.map(\.event) }

    var hasRecords: Bool { pending.contains { if case .records = $0 { true } else { false } } }
}

extension Shards {
    struct Assignment: Sendable {
        var generation: Generation
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

    func error() async throws -> KafkaFailure {
        try await notice { if case .error(let failure) = $0 { failure } else { nil } }
    }

    @discardableResult
    func closed() async throws -> LostRecords {
        try await notice { if case .closed(let lost) = $0 { lost } else { nil } }
    }

    /// True if an original was reported as too large for the held topic.
    var hasLargeOriginals: Bool { pending.contains { if case .tooLargeToHold = $0 { true } else { false } } }

    var hasAssignment: Bool { pending.contains { if case .assigned = $0 { true } else { false } } }
}

/// A time in whole milliseconds whose records brokers do not delete at once.
let hourAgo = Instant(milliseconds: Int64(Date().timeIntervalSince1970) * 1000 - 3_600_000)

let live = LaneID(0)

extension KafkaDriver {
    /// Produces a record as a result.
    func produce(_ record: ProducedRecord, _ delivery: UInt64, shard: Int = 0) -> Bool {
        produce(record, delivery: DeliveryID(rawValue: delivery), kind: .result, shard: ShardID(shard))
    }

    func carryOut(_ command: KafkaCommand, shard: Int = 0) { carryOut(command, from: ShardID(shard)) }
}
