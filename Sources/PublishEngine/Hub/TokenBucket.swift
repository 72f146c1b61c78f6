public import NewsModel

/// The pace of requests: GCRA (the generic cell rate algorithm) in integer nanoseconds.
///
/// In any window of length t at most `rate · t + burst` requests leave. The interval between
/// requests is rounded up, so that rounding can only slow us down.
public struct TokenBucket: Sendable, Hashable {
    /// Nanoseconds one request costs.
    private var interval: Int64
    /// The lead that requests may have over the steady pace, in nanoseconds: `(burst - 1) · interval`.
    private var tolerance: Int64
    /// The time at which the bucket is full again (GCRA's theoretical arrival time).
    private var fullAt: Instant

    /// Starts empty: the first request leaves one interval from `now`, so that a bucket handed from one process to
    /// another never lets both bursts through.
    ///
    /// - Parameters:
    ///   - rate: requests per second for all processes that share the hub, at least 1.
    ///   - burst: requests that may leave at once after a pause, for all of them, at least 1.
    ///   - share: the part of both that is ours, as a fraction of integers.
    public init(rate: Int, burst: Int, share: Share = .whole, emptyAt now: Instant) {
        let cost = Int64(max(rate, 1)).multipliedFullWidth(by: Int64(max(share.part, 1)))
        let budget = Int64(1_000_000_000).multipliedFullWidth(by: Int64(max(share.total, 1)))
        // Rate, share and partition counts come from settings and brokers. If they overflow, one request a second is safe.
        if cost.high == 0, budget.high == 0, let divisor = Int64(exactly: cost.low),
            let dividend = Int64(exactly: budget.low)
        {
            interval = dividend / divisor + (dividend % divisor == 0 ? 0 : 1)
        } else {
            interval = 1_000_000_000
        }
        let proportion = burst.multipliedReportingOverflow(by: max(share.part, 1)).partialValue / max(share.total, 1)
        // Other processes may own each of the other parts, and each of them may send one request at any time.
        let left = burst.subtractingReportingOverflow(max(share.total - share.part, 0)).partialValue
        let ours = max(1, min(proportion, left))
        tolerance = interval.multipliedReportingOverflow(by: Int64(ours - 1)).partialValue
        fullAt = now + .nanoseconds(tolerance + interval)
    }

    /// Our part of a shared budget: owned partitions of all partitions.
    public struct Share: Sendable, Hashable {
        public var part: Int
        public var total: Int

        public static let whole = Share(part: 1, total: 1)
    }

    /// A request may leave now, or not before a time.
    public enum Answer: Sendable, Hashable {
        case now
        case notBefore(Instant)
    }

    /// Checks the pace without taking a token.
    ///
    /// - Parameter reserve: the part of the burst, in percent, that this request must leave to more urgent ones.
    public func ask(at now: Instant, reserve: Int = 0) -> Answer {
        let usable = tolerance - tolerance / 100 * Int64(min(max(reserve, 0), 100))
        let earliest = fullAt - .nanoseconds(usable)
        return now >= earliest ? .now : .notBefore(earliest)
    }

    /// Takes a token; call only after `ask` said `.now`.
    public mutating func take(at now: Instant) {
        fullAt = max(fullAt, now) + .nanoseconds(interval)
    }

    /// Applies a pause that the hub requested. One request may leave at `instant`, and the next one an interval later.
    public mutating func hold(until instant: Instant) {
        fullAt = max(fullAt, instant + .nanoseconds(tolerance))
    }

    /// Requests that could leave at once.
    public func available(at now: Instant) -> Int {
        let ahead = max((fullAt - now).nanoseconds, 0)
        return ahead > tolerance ? 0 : Int((tolerance - ahead) / interval) + 1
    }
}
