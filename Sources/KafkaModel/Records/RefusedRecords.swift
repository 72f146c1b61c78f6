public import NewsModel

/// Results and dead letters that the broker refused, until it accepts them: a record that is too large is tried once more in
/// its smallest form, every other one again and again, ever more slowly. Nothing is dropped, and no record can end the process.
///
/// Bounded by the windows of the lanes, whose records these are.
public struct RefusedRecords: Sendable {
    private var waiting: [Waiting] = []
    private var states: [Key: State] = [:]

    /// Names a record on its way to the broker.
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

    private struct Waiting: Sendable {
        var key: Key
        var record: ProducedRecord
        var at: Instant
    }

    private struct State: Sendable {
        var tries = 0
        var isSmallest = false
        var topic: String
        var since: Instant
        var failure: KafkaFailure
    }

    /// The reason why records of a topic are not stored.
    public struct Reason: Sendable, Hashable {
        public var topic: String
        public var records: Int
        /// By the monotonic clock.
        public var since: Instant
        public var failure: KafkaFailure

        public init(topic: String, records: Int, since: Instant, failure: KafkaFailure) {
            self.topic = topic
            self.records = records
            self.since = since
            self.failure = failure
        }
    }

    static let shortestRest = Duration.milliseconds(250)
    static let longestRest = Duration.seconds(15)

    public init() {}

    public var isEmpty: Bool { states.isEmpty }

    /// The broker did not take a record.
    ///
    /// - Parameter smallest: makes the record's smallest form.
    public mutating func refused(
        _ record: ProducedRecord, _ key: Key, _ failure: KafkaFailure, at now: Instant,
        smallest: (ProducedRecord) -> ProducedRecord
    ) {
        var state = states[key] ?? State(topic: record.topic, since: now, failure: failure)
        state.failure = failure
        state.tries += 1
        var next = Waiting(key: key, record: record, at: now)
        if failure.code == "MSG_SIZE_TOO_LARGE", !state.isSmallest {
            state.isSmallest = true
            next.record = smallest(record)
        } else {
            var rest = Self.shortestRest
            for _ in 0..<min(state.tries, 10) { rest = min(rest * 2, Self.longestRest) }
            next.at = now + rest
        }
        states[key] = state
        waiting.append(next)
    }

    /// The producer had no room for a record that was due.
    public mutating func postpone(_ record: ProducedRecord, _ key: Key, at now: Instant) {
        waiting.append(Waiting(key: key, record: record, at: now + Self.shortestRest))
    }

    /// The broker accepted it after all.
    ///
    /// - Returns: `true` if it had refused it before.
    @discardableResult
    public mutating func stored(_ key: Key) -> Bool {
        states.isEmpty ? false : states.removeValue(forKey: key) != nil
    }

    /// It was refused as too large once, and its smallest form is under way.
    public func isSmallest(_ key: Key) -> Bool { states[key]?.isSmallest ?? false }

    /// It is not tried again.
    public mutating func giveUp(_ key: Key) { states[key] = nil }

    /// Records that were refused and are not stored yet.
    public var keys: Set<Key> { Set(states.keys) }

    /// Records to hand to the producer again now, in the order they were refused.
    public mutating func due(at now: Instant) -> [(key: Key, record: ProducedRecord)] {
        guard waiting.contains(where: { $0.at <= now }) else { return [] }
        let due = waiting.filter { $0.at <= now }
        waiting.removeAll { $0.at <= now }
        return due.map { ($0.key, $0.record) }
    }

    public var nextDue: Instant? { waiting.map(\.at).min() }

    /// Obstacles by topic, in the order of their names.
    public var reasons: [Reason] {
        var reasons: [String: Reason] = [:]
        for state in states.values.sorted(by: { $0.since < $1.since }) {
            reasons[
                state.topic, default: Reason(topic: state.topic, records: 0, since: state.since, failure: state.failure)
            ]
            .records += 1
        }
        return reasons.values.sorted { $0.topic < $1.topic }
    }
}
