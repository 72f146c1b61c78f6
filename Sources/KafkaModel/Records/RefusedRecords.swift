public import NewsModel

/// Results and dead letters that the broker refused, until it accepts them.
///
/// A broker judges a batch as a whole, so a refusal for size says nothing about a record that shared its batch. Such a record
/// is retried alone. A record that is too large even alone is retried in its smallest form. Every other record is retried
/// unchanged, with a delay that grows. Nothing is dropped, and no record can end the process.
///
/// Bounded by the windows of the lanes, whose records these are.
public struct RefusedRecords: Sendable {
    private var waiting: [Waiting] = []
    private var states: [Key: State] = [:]

    /// Names a record sent to the broker and not acknowledged.
    public struct Key: Hashable, Sendable {
        public var shard: ShardID
        public var delivery: DeliveryID
        public var kind: StoredRecord.Kind

        public init(shard: ShardID, delivery: DeliveryID, kind: StoredRecord.Kind) {
            self.shard = shard
            self.delivery = delivery
            self.kind = kind
        }
    }

    /// A refused record and the form of its retry.
    public struct Retry: Sendable, Hashable {
        public var key: Key
        public var record: ProducedRecord
        /// True for a batch of its own.
        public var isAlone: Bool
    }

    private struct Waiting: Sendable {
        var retry: Retry
        var at: Instant
    }

    private struct State: Sendable {
        var tries = 0
        /// A batch that held the record was refused, so the record goes alone from now on.
        var isAlone = false
        var isSmallest = false
        /// It was refused with its batch alone, which says nothing about the record.
        var isOnlyBatch: Bool { isAlone && tries == 1 }
        var topic: String
        var since: Instant
        var failure: KafkaFailure
    }

    /// The reason why records of a topic are not stored.
    public struct Reason: Sendable, Hashable {
        public var topic: String
        public var records: Int
        /// The start, by the monotonic clock.
        public var since: Instant
        public var failure: KafkaFailure
    }

    static let shortestRest = Duration.milliseconds(250)
    static let longestRest = Duration.seconds(15)

    public init() {}

    public var isEmpty: Bool { states.isEmpty }

    /// The broker refused a record.
    ///
    /// - Parameters:
    ///   - wasAlone: `true` if the record was the only one of its batch, so that the refusal is about this record.
    ///   - smallest: makes the record's smallest form.
    public mutating func refused(
        _ record: ProducedRecord, _ key: Key, _ failure: KafkaFailure, wasAlone: Bool, at now: Instant,
        smallest: (ProducedRecord) -> ProducedRecord
    ) {
        var state = states[key] ?? State(topic: record.topic, since: now, failure: failure)
        state.failure = failure
        state.tries += 1
        var next = Waiting(retry: Retry(key: key, record: record, isAlone: false), at: now)
        if failure.isAboutBatch, !wasAlone {
            state.isAlone = true
        } else if failure.code == KafkaFailure.tooLarge, !state.isSmallest {
            state.isSmallest = true
            next.retry.record = smallest(record)
        } else {
            var rest = Self.shortestRest
            for _ in 0..<min(state.tries, 10) { rest = min(rest * 2, Self.longestRest) }
            next.at = now + rest
        }
        next.retry.isAlone = state.isAlone
        states[key] = state
        waiting.append(next)
    }

    /// The producer had no room for a record that was due.
    public mutating func postpone(_ retry: Retry, at now: Instant) {
        waiting.append(Waiting(retry: retry, at: now + Self.shortestRest))
    }

    /// The broker accepted a record.
    ///
    /// - Returns: `true` if the broker had refused it before.
    @discardableResult
    public mutating func stored(_ key: Key) -> Bool {
        states.isEmpty ? false : states.removeValue(forKey: key) != nil
    }

    /// Stops retrying a record.
    public mutating func giveUp(_ key: Key) { states[key] = nil }

    /// Records that were refused and are not stored yet.
    public var keys: Set<Key> { Set(states.keys) }

    /// Records to hand to the producer again now, in the order they were refused.
    public mutating func due(at now: Instant) -> [Retry] {
        guard waiting.contains(where: { $0.at <= now }) else { return [] }
        let due = waiting.filter { $0.at <= now }
        waiting.removeAll { $0.at <= now }
        return due.map(\.retry)
    }

    public var nextDue: Instant? { waiting.map(\.at).min() }

    /// Obstacles by topic, sorted by name. A refused batch counts only once one of its records is refused alone.
    public var reasons: [Reason] {
        var reasons: [String: Reason] = [:]
        for state in states.values.sorted(by: { $0.since < $1.since }) where !state.isOnlyBatch {
            reasons[
                state.topic, default: Reason(topic: state.topic, records: 0, since: state.since, failure: state.failure)
            ]
            .records += 1
        }
        return reasons.values.sorted { $0.topic < $1.topic }
    }
}
