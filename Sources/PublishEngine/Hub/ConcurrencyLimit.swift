public import NewsModel

/// The number of requests that may be in flight: between 1 and the number of connections, as many as the hub can bear.
///
/// Additive increase, multiplicative decrease on the mean round trip, judged once per round trip (after Vector's
/// adaptive request concurrency): a clearly slower window or a refusal takes a tenth away; a full window that was not
/// slower adds one, or doubles while no limit was ever met. Only replies that mean acceptance feed the average. It
/// does not limit the rate; `TokenBucket` does.
public struct ConcurrencyLimit: Sendable, Hashable {
    /// At most `maximum`, at least 1.
    public private(set) var limit: Int
    public private(set) var maximum: Int
    private var growsFast = true
    /// The hub has refused a request or become slower, so that `limit` says what it can bear.
    private var hasMetLimit = false
    /// The limit before anything is known of the hub.
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

    /// Slower by less than this is noise of our own machine.
    private static let noise: Int64 = 5_000_000

    public init(maximum: Int) {
        self.maximum = max(maximum, 1)
        limit = min(self.maximum, Self.first)
    }

    /// Changes the number of connections, as when a shard's share of them changes.
    ///
    /// If the hub has not met its limit yet, the limit is what it would be at the start with these connections: a limit that
    /// stayed low would let the second of two alerts wait for the reply to the first. Otherwise it grows fast from where it is.
    public mutating func change(maximum: Int) {
        if maximum > self.maximum { growsFast = true }
        self.maximum = max(maximum, 1)
        limit = min(hasMetLimit ? limit : max(limit, Self.first), self.maximum)
    }

    /// A request was accepted after `roundTrip`; `inFlight` counted it and those beside it.
    public mutating func accepted(roundTrip: Duration, inFlight: Int, at now: Instant) {
        window.count += 1
        window.total += min(max(roundTrip.nanoseconds, 0), 1_000_000_000_000)
        if inFlight >= limit { window.filled = true }
        judge(at: now)
    }

    /// The hub was overloaded, or did not answer in time.
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
            limit = max(1, limit * 9 / 10)
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
