public import NewsModel

/// The number of requests that may be in flight: as many as the hub can bear, at most the number of connections.
///
/// The algorithm is additive increase, multiplicative decrease on the mean round trip, judged once per round trip,
/// after Vector's adaptive request concurrency. A clearly slower window or a refusal takes a tenth away. A full window
/// that was not slower adds one, or doubles before any limit was met. Only replies that mean acceptance change the
/// average. `TokenBucket` limits the rate.
public struct ConcurrencyLimit: Sendable, Hashable {
    /// At most `maximum`, and 0 only if that is 0.
    public private(set) var limit: Int
    public private(set) var maximum: Int
    private var growsFast = true
    /// The hub has refused a request or become slower, so that `limit` says what it can bear.
    private var hasMetLimit = false
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
        limit = min(self.maximum, Self.first)
    }

    /// Changes the number of connections, e.g. when a shard's share changes. With 0, nothing is sent.
    ///
    /// If the hub has not met its limit yet, the limit is at least that of a start: a low limit would let a second
    /// alert wait for the first reply. Otherwise it grows fast from its present value.
    public mutating func change(maximum: Int) {
        if maximum > self.maximum { growsFast = true }
        self.maximum = max(maximum, 0)
        limit = min(max(limit, hasMetLimit ? 1 : Self.first), self.maximum)
    }

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
            hasMetLimit = true
            limit = min(max(1, limit * 9 / 10), maximum)
        } else if window.filled {
            limit = min(maximum, growsFast ? limit * 2 : limit + 1)
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
