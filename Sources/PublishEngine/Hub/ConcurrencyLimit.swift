public import NewsModel

/// The number of requests that may be in flight: as many as the hub can bear, at most the number of connections.
///
/// The algorithm is additive increase, multiplicative decrease on the mean round trip, judged once per round trip,
/// after Vector's adaptive request concurrency. A clearly slower window or a refusal takes a tenth away. A full window
/// that was not slower adds one, or doubles before any limit was met. Only replies that mean acceptance change the
/// average. `TokenBucket` limits the rate.
public struct ConcurrencyLimit: Sendable, Hashable {
    /// The number of connections, which the caller changes.
    public private(set) var maximum: Int
    /// The requests that the hub can bear, at least 1. One more than `maximum` says that more connections would be used.
    private var bearable: Int
    private var growsFast = true
    private static let first = 16
    /// Moving average of the round trip and of its deviation, in nanoseconds; 0 before the first reply.
    private var average: Int64 = 0
    private var deviation: Int64 = 0
    private var window = Window()

    private struct Window: Sendable, Hashable {
        var endsAt = Instant.distantPast
        var count: Int64 = 0
        var total: Int64 = 0
        var refused = false
        var filled = false
    }

    /// A smaller slowdown than this is noise of our own machine.
    private static let noise: Int64 = 5_000_000

    public init(maximum: Int) {
        self.maximum = max(maximum, 1)
        bearable = Self.first
    }

    /// The requests that may be in flight now.
    public var limit: Int { min(bearable, maximum) }

    /// True if more connections would let more requests be in flight.
    var needsConnections: Bool { bearable > maximum }

    /// Changes the number of connections, e.g. when a shard's share changes. With 0, nothing is sent. What the hub can bear
    /// stays.
    public mutating func change(maximum: Int) { self.maximum = max(maximum, 0) }

    /// Records a request accepted after `roundTrip`; `inFlight` includes it.
    public mutating func accepted(roundTrip: Duration, inFlight: Int, at now: Instant) {
        window.count += 1
        window.total += min(max(roundTrip.nanoseconds, 0), 1_000_000_000_000)
        if inFlight >= limit { window.filled = true }
        judge(at: now)
    }

    /// Records that the hub was overloaded, or did not answer in time.
    public mutating func refused(at now: Instant) {
        window.refused = true
        judge(at: now)
    }

    private mutating func judge(at now: Instant) {
        guard now >= window.endsAt else { return }
        let mean = window.count > 0 ? window.total / window.count : 0
        let slower = average > 0 && mean > average + max(deviation * 5 / 2, average, Self.noise)
        if window.refused || slower {
            growsFast = false
            bearable = max(1, limit * 9 / 10)
        } else if window.filled {
            bearable = max(bearable, min(maximum + 1, growsFast ? bearable * 2 : bearable + 1))
        }
        if window.count > 0 {
            let difference = mean - average
            if average == 0 {
                average = mean
            } else {
                average += difference * 2 / 5
                deviation += (abs(difference) - deviation) * 2 / 5
            }
        }
        window = Window(endsAt: now + .nanoseconds(max(average, 1_000_000)))
    }
}
