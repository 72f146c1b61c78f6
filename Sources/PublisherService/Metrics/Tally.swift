public import NewsModel
import PublishEngine

/// Counts of completed work, in plain arrays. Confined to a shard's loop; other threads receive copies.
public struct Tally: Sendable {
    /// The lanes, in the order of the settings.
    public private(set) var lanes: [Lane]
    /// Outcomes by category, in the order of the settings. Categories from later reloads follow at the end. An event in
    /// two categories counts in both.
    public private(set) var categories: [Outcomes]
    /// Requests sent, including retries and probes.
    public var requests: UInt64 = 0

    public struct Lane: Sendable {
        public internal(set) var outcomes = Outcomes()
        public internal(set) var queue = LatencyHistogram()
        public internal(set) var hub = LatencyHistogram()
        public internal(set) var total = LatencyHistogram()
        /// Dead letters by each reason of `DeadLetterReason`.
        public internal(set) var deadLetters = Lane.zeros(DeadLetterReason.all)
        /// The number of deliveries for each part that can be cut from a payload, and of interests that nobody can follow.
        public internal(set) var cuts = Lane.zeros(PayloadCuts.allNames + [Lane.interest])
        /// Categories to which deliveries were not sent, because a tag expression had no room.
        public internal(set) var leftOut: UInt64 = 0
    }

    /// The counts of deliveries by outcome.
    public struct Outcomes: Sendable, Hashable {
        private static let order = Outcome.allCases
        private var counts = [UInt64](repeating: 0, count: order.count)

        public subscript(outcome: Outcome) -> UInt64 { counts[Self.index(of: outcome)] }

        public var total: UInt64 { counts.reduce(0, +) }

        mutating func count(_ outcome: Outcome) { counts[Self.index(of: outcome)] += 1 }

        mutating func add(_ other: Outcomes) {
            for index in counts.indices { counts[index] += other.counts[index] }
        }

        /// Searches the order, because nearly all outcomes are the first, `accepted`.
        private static func index(of outcome: Outcome) -> Int { order.firstIndex(of: outcome) ?? 0 }
    }

    init(lanes: Int, categories: Int) {
        self.lanes = Array(repeating: Lane(), count: lanes)
        self.categories = Array(repeating: Outcomes(), count: categories)
    }

    /// - Parameter request: passed instead of its result, which is expensive to copy.
    mutating func count(_ request: StoreRequest, lane: Int) { lanes[lane].count(request) }

    mutating func count(_ outcome: Outcome, category: Int) { categories[category].count(outcome) }

    mutating func grow(toCategories count: Int) {
        while categories.count < count { categories.append(Outcomes()) }
    }

    mutating func add(_ other: Tally) {
        grow(toCategories: other.categories.count)
        requests += other.requests
        for index in lanes.indices { lanes[index].add(other.lanes[index]) }
        for index in other.categories.indices { categories[index].add(other.categories[index]) }
    }
}

extension Tally.Lane {
    /// Counts every interest that nobody can follow. Their texts come from events, so as labels they would have no bound.
    fileprivate static let interest = "interest"

    /// All keys with a count of 0 from the start, so that metrics show the first increase.
    fileprivate static func zeros(_ keys: [String]) -> [String: UInt64] {
        Dictionary(keys.map { ($0, 0) }) { first, _ in first }
    }

    fileprivate mutating func count(_ request: StoreRequest) {
        let outcome = request.result.outcome
        outcomes.count(outcome)
        let latency = request.result.latency
        if let time = latency.queue { queue.add(time) }
        if let time = latency.hub { hub.add(time) }
        if let time = latency.total { total.add(time) }
        for part in request.result.cut { cuts[cuts[part] == nil ? Self.interest : part, default: 0] += 1 }
        leftOut += UInt64(request.result.leftOut.count)
        guard outcome.isDeadLettered else { return }
        deadLetters[DeadLetterReason.counting(request.result.error?.code ?? outcome.rawValue), default: 0] += 1
    }

    fileprivate mutating func add(_ other: Tally.Lane) {
        outcomes.add(other.outcomes)
        queue.add(other.queue)
        hub.add(other.hub)
        total.add(other.total)
        deadLetters.merge(other.deadLetters, uniquingKeysWith: +)
        cuts.merge(other.cuts, uniquingKeysWith: +)
        leftOut += other.leftOut
    }
}
