package import NewsModel

/// The progress of a run by counts alone. Tallies of several partitions add up.
///
/// An event has one result for each platform. A `held` result is not the last one, because the original returns from the held
/// topic and has another result. A record that `redrive` writes again adds a delivery for each of its platforms.
package struct RunTally: Sendable, Hashable {
    /// The delivery that was settled last.
    package struct Last: Sendable, Hashable {
        /// The event's id, or the place of a record without one.
        package var event: String
        package var at: Instant

        package init(event: String, at: Instant) { (self.event, self.at) = (event, at) }
    }

    /// The number of records of `publish`. A record that it wrote twice, after a crash, counts twice.
    package var published = 0
    /// The number of deliveries that `redrive` has written again.
    package var redriven = 0
    /// The number of records that returned from the held topic for all platforms, and the number of deliveries of those that
    /// returned for some.
    package var returned = 0, returnedAlone = 0
    /// The numbers of results. Those of `held` include results whose originals have returned.
    package var results: [Outcome: Int] = [:]
    package var pace = RunPace()
    package var first: Instant?
    package var last: Last?

    package init() {}

    package mutating func add(_ source: RunSource) {
        switch source.way {
        case .published: published += 1
        case .redriven: redriven += source.platforms?.count ?? 1
        case .returned, .returnedRedriven:
            if let platforms = source.platforms { returnedAlone += platforms.count } else { returned += 1 }
        }
    }

    package mutating func add(_ result: RunResult) {
        results[result.outcome, default: 0] += 1
        pace.add(at: result.at)
        first = min(first ?? result.at, result.at)
        if last.map({ $0.at <= result.at }) ?? true { last = Last(event: result.event, at: result.at) }
    }

    package mutating func merge(_ other: RunTally) {
        published += other.published
        redriven += other.redriven
        returned += other.returned
        returnedAlone += other.returnedAlone
        results.merge(other.results) { $0 + $1 }
        pace.merge(other.pace)
        first = [first, other.first].compactMap { $0 }.min()
        last = [last, other.last].compactMap { $0 }.max { ($0.at, $0.event) < ($1.at, $1.event) }
    }

    /// - Parameter platforms: the number of deliveries of an event.
    package func figures(platforms: Int, at now: Instant) -> RunFigures {
        let holds = results[.held, default: 0]
        let settled = results.values.reduce(0, +) - holds
        let waiting = max(holds - returned * platforms - returnedAlone, 0)
        var outcomes = results.filter { $0.key != .held && $0.value > 0 }
        if waiting > 0 { outcomes[.held] = waiting }
        let open = max(published * platforms + redriven - settled, 0)
        let overall = first.flatMap { first in
            last.map { Double(settled) / max(Double(($0.at - first).nanoseconds) / 1e9, 1) }
        }
        return RunFigures(
            published: published, outcomes: outcomes, settled: settled, open: open,
            rate: open > 0 ? rate(at: now) : overall ?? 0, last: last)
    }

    /// The current rate; 0 once the run has stalled, because a minute's rate would only fall and the time left would grow.
    private func rate(at now: Instant) -> Double {
        let rate = pace.perSecond(at: now)
        guard let last, now - last.at >= Self.stillness, Double((now - last.at).nanoseconds) / 1e9 * rate > 10 else {
            return rate
        }
        return 0
    }

    /// Minimum time without a result after which a run counts as stalled, if ten results were expected in that time.
    private static let stillness = Duration.seconds(10)
}

/// The figures that are reported about a run.
package struct RunFigures: Sendable, Hashable {
    /// The number of events on the lanes' topics.
    package var published: Int
    /// The numbers of deliveries by outcome, with those that wait on the held topic.
    package var outcomes: [Outcome: Int]
    /// The number of deliveries with their last outcome.
    package var settled: Int
    /// The number of deliveries without their last outcome.
    package var open: Int
    /// Deliveries settled per second: over the last minute, or over the whole run if nothing is open.
    package var rate: Double
    package var last: RunTally.Last?

    /// The estimated seconds left; `nil` while the rate is 0, and 0 if nothing is open.
    package var secondsLeft: Int? {
        if open == 0 { return 0 }
        return rate > 0 ? Int(min((Double(open) / rate).rounded(.up), 1e9)) : nil
    }
}

/// The rate of results: a count for each of the last steps of ten seconds. The reader and the order do not matter.
package struct RunPace: Sendable, Hashable {
    /// Counts by the number of their step since 1970.
    package private(set) var counts: [Int64: Int] = [:]

    /// The number of steps in the rate. One more is kept, because the last step is not over.
    private static let steps: Int64 = 6
    private static let stepSeconds: Int64 = 10

    package init() {}

    /// Restores counts that were stored. Counts older than the newest steps are dropped.
    package init(counts: [Int64: Int]) {
        self.counts = counts.filter { $0.value > 0 }
        trim()
    }

    package mutating func add(_ count: Int = 1, at time: Instant) {
        counts[Self.step(of: time), default: 0] += count
        if counts.count > Self.steps + 1 { trim() }
    }

    package mutating func merge(_ other: RunPace) {
        counts.merge(other.counts) { $0 + $1 }
        trim()
    }

    /// Results per second over the last minute, or since the first of them if that time is shorter.
    package func perSecond(at now: Instant) -> Double {
        let step = Self.step(of: now)
        let recent = counts.filter { $0.key > step - Self.steps }
        guard let first = recent.keys.min() else { return 0 }
        let second = now.nanoseconds / 1_000_000_000
        let seconds = max(second - first * Self.stepSeconds, 1)
        return Double(recent.values.reduce(0, +)) / Double(seconds)
    }

    private mutating func trim() {
        guard let newest = counts.keys.max() else { return }
        counts = counts.filter { $0.key >= newest - Self.steps }
    }

    private static func step(of time: Instant) -> Int64 { time.nanoseconds / 1_000_000_000 / stepSeconds }
}
