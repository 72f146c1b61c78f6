import ByteText
package import NewsModel

/// What has become of a run so far, by counts alone. Tallies of several partitions add up.
///
/// An event has one result for each platform. A result `held` is not the last one: the original comes back from the held
/// topic, and what becomes of that is. A record that was put back by `redrive` adds a delivery for its one platform.
package struct RunTally: Sendable, Hashable {
    /// The delivery that was settled last.
    package struct Last: Sendable, Hashable {
        /// The event's id, or the place of a record without one.
        package var event: String
        package var at: Instant

        package init(event: String, at: Instant) {
            self.event = event
            self.at = at
        }
    }

    /// Records of `publish`. One that it wrote twice, after a crash, counts twice.
    package var published = 0
    /// Deliveries that `redrive` put back.
    package var redriven = 0
    /// Records that came back from the held topic for all platforms, and for one.
    package var returned = 0, returnedAlone = 0
    /// Results; those of `held` include the ones whose originals have come back.
    package var results: [Outcome: Int] = [:]
    package var pace = RunPace()
    package var first: Instant?
    package var last: Last?

    package init() {}

    package mutating func add(_ source: RunSource) {
        switch source.way {
        case .published: published += 1
        case .redriven: redriven += 1
        case .returned: if source.platform == nil { returned += 1 } else { returnedAlone += 1 }
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

    /// - Parameter platforms: how many deliveries an event has.
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

    /// 0 once it stands still: a minute's rate would only sink, and the time left would grow.
    private func rate(at now: Instant) -> Double {
        let rate = pace.perSecond(at: now)
        guard let last, now - last.at >= Self.stillness, Double((now - last.at).nanoseconds) / 1e9 * rate > 10 else {
            return rate
        }
        return 0
    }

    /// The least time without a result, when ten were to be expected, after which nothing seems to move.
    private static let stillness = Duration.seconds(10)
}

/// What is told of a run.
package struct RunFigures: Sendable, Hashable {
    /// Events on the lanes' topics.
    package var published: Int
    /// How its deliveries ended, and those that wait on the held topic.
    package var outcomes: [Outcome: Int]
    /// Deliveries with their last outcome.
    package var settled: Int
    /// Deliveries without one.
    package var open: Int
    /// Deliveries settled each second: over the last minute, or of a run without open ones over all its time.
    package var rate: Double
    package var last: RunTally.Last?

    /// `nil` while nothing is settled; 0 if nothing is open.
    package var secondsLeft: Int? {
        if open == 0 { return 0 }
        return rate > 0 ? Int(min((Double(open) / rate).rounded(.up), 1e9)) : nil
    }
}
