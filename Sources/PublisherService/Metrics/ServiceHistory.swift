import DequeModule
public import NewsModel

/// Rates and latencies of the last hour, so that a dashboard that is opened shows more than the present.
public struct ServiceHistory: Sendable {
    /// The work of one interval.
    public struct Point: Sendable {
        /// The end of the interval.
        public let at: Instant
        /// Requests to the hub, a second.
        public let requests: Double
        /// The lanes in the order of the settings.
        public let lanes: [Lane]
    }

    public struct Lane: Sendable {
        /// Events with an outcome, a second: all, the accepted ones, and the failed ones.
        public let rate, accepted, failed: Double
        /// Percentiles of the time from record to outcome, in seconds; `nil` without events.
        public let p50, p95, p99: Double?
    }

    private static let interval = Duration.seconds(10)
    private static let span = Duration.seconds(3_600)

    private var kept: Deque<Point> = []
    private var last: (tally: Tally, at: Instant)?

    /// The points, the oldest first.
    public var points: [Point] { Array(kept) }

    init() {}

    /// Adds the interval since the last point, once it is long enough.
    ///
    /// - Parameter tally: all work since the start of the process.
    mutating func add(_ tally: Tally, at now: Instant) {
        guard let (earlier, since) = last, now > since else { return last = (tally, now) }
        guard now - since >= Self.interval else { return }
        last = (tally, now)
        let seconds = Double((now - since).nanoseconds) / 1e9
        func rate(_ now: UInt64, _ then: UInt64) -> Double { Double(now - min(then, now)) / seconds }
        let lanes = zip(tally.lanes, earlier.lanes).map { lane, earlier in
            let total = lane.total.since(earlier.total)
            return Lane(
                rate: rate(lane.outcomes.total, earlier.outcomes.total),
                accepted: rate(lane.outcomes[.accepted], earlier.outcomes[.accepted]),
                failed: rate(lane.outcomes.failed, earlier.outcomes.failed), p50: total.quantile(0.5),
                p95: total.quantile(0.95), p99: total.quantile(0.99))
        }
        kept.append(Point(at: now, requests: rate(tally.requests, earlier.requests), lanes: lanes))
        while let first = kept.first, now - first.at > Self.span { kept.removeFirst() }
    }
}

extension Tally.Outcomes {
    fileprivate var failed: UInt64 {
        Outcome.allCases.reduce(0) { $0 + ($1.isDeadLettered ? self[$1] : 0) }
    }
}
