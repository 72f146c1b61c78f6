/// A life of feeds that broke a promise, with the simplest scenario found that breaks it too.
public struct FeedFailure: Sendable, CustomStringConvertible {
    public var violation: FeedViolation
    public var simplest: FeedScenario
    /// The same promise, as the simplest scenario breaks it.
    public var simplestViolation: FeedViolation

    public var description: String {
        """
        \(violation)
        simplest scenario: \(simplest)
        there: \(simplestViolation.sentence) (after \(simplestViolation.at.components.seconds) s)
        """
    }

    /// Simplifies a failing scenario, one property after the other, as long as it still breaks the same promise.
    ///
    /// Every property changes the random draws of the life, so a smaller scenario may pass although the fault is in it. The result
    /// is therefore not always minimal.
    ///
    /// - Parameter fails: runs a life; returns its violation, or `nil` if every promise is kept.
    public init(_ scenario: FeedScenario, _ violation: FeedViolation, fails: (FeedScenario) -> FeedViolation?) {
        self.violation = violation
        simplest = scenario
        simplestViolation = violation
        var isSimpler = true
        while isSimpler {
            isSimpler = false
            for simplify in Self.simplifications {
                var candidate = simplest
                simplify(&candidate)
                guard candidate != simplest, let found = fails(candidate), found.promise == violation.promise else {
                    continue
                }
                simplest = candidate
                simplestViolation = found
                isSimpler = true
            }
        }
    }

    private static let simplifications: [@Sendable (inout FeedScenario) -> Void] = [
        // Together, because each of them alone often hides a fault that needs none of them.
        { ($0.processes, $0.crashes, $0.rebalances, $0.lostSessions) = (1, 0, 0, 0) },
        { $0.stormy = max($0.stormy / 2, .seconds(60)) },
        { $0.feeds = 1 },
        { $0.feeds = max($0.feeds - 1, 1) },
        { $0.hosts = 1 },
        { $0.processes = max($0.processes - 1, 1) },
        { $0.partitions = max($0.partitions - 1, 1) },
        { $0.crashes = 0 },
        { $0.rebalances = 0 },
        { $0.lostSessions = 0 },
        { $0.failedWrites = 0 },
        { $0.publishersFail = false },
        { $0.clockAhead = .zero },
        { $0.maxPerPoll = 1_000 },
        { $0.maxPerHour = 1_000 },
    ]
}

extension FeedScenario: CustomStringConvertible {
    public var description: String {
        """
        \(processes) processes, \(partitions) partitions, \(feeds) feeds on \(hosts) hosts; \
        \(stormy.components.seconds) s with faults, \(calm.components.seconds) s without; \
        crashes \(crashes) %, rebalances \(rebalances) %, lost sessions \(lostSessions) %, failed writes \(failedWrites) %; \
        publishers \(publishersFail ? "fail" : "do not fail"); clocks \(clockAhead.components.seconds) s ahead; \
        at most \(maxPerPoll) entries in a poll and \(maxPerHour) alerts in an hour
        """
    }
}
