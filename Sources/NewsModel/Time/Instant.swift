import ByteText

/// A point in time, in nanoseconds since 1970-01-01T00:00:00Z, leap seconds not counted.
///
/// All decisions take the time as an argument; nothing in this module reads a clock.
public struct Instant: Hashable, Comparable, Sendable {
    public var nanoseconds: Int64

    public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// Saturates at `distantPast` and `distantFuture`, for times from outside.
    public init(milliseconds: Int64) {
        let (product, overflow) = milliseconds.multipliedReportingOverflow(by: 1_000_000)
        nanoseconds = overflow ? (milliseconds < 0 ? .min : .max) : product
    }

    public static let distantPast = Instant(nanoseconds: .min)
    public static let distantFuture = Instant(nanoseconds: .max)

    /// Whole milliseconds since 1970, rounded down.
    public var milliseconds: Int64 {
        nanoseconds.flooredQuotientAndRemainder(dividingBy: 1_000_000).quotient
    }

    public static func < (lhs: Instant, rhs: Instant) -> Bool { lhs.nanoseconds < rhs.nanoseconds }

    /// Saturating: the far future stays the far future.
    public static func + (lhs: Instant, rhs: Duration) -> Instant {
        let (sum, overflow) = lhs.nanoseconds.addingReportingOverflow(rhs.nanoseconds)
        return overflow ? (rhs < .zero ? .distantPast : .distantFuture) : Instant(nanoseconds: sum)
    }

    public static func - (lhs: Instant, rhs: Duration) -> Instant {
        let (difference, overflow) = lhs.nanoseconds.subtractingReportingOverflow(rhs.nanoseconds)
        return overflow ? (rhs < .zero ? .distantFuture : .distantPast) : Instant(nanoseconds: difference)
    }

    /// Saturating, like addition.
    public static func - (lhs: Instant, rhs: Instant) -> Duration {
        let (difference, overflow) = lhs.nanoseconds.subtractingReportingOverflow(rhs.nanoseconds)
        return .nanoseconds(overflow ? (lhs < rhs ? .min : .max) : difference)
    }
}

extension Duration {
    /// The whole duration in nanoseconds, saturating at about ±292 years.
    public var nanoseconds: Int64 {
        // Nearly all are below nine seconds; dividing 128 bits costs more than all the rest of the arithmetic.
        if let short = Int64(exactly: attoseconds) { return short / 1_000_000_000 }
        return Int64(clamping: attoseconds / 1_000_000_000)
    }
}

/// The current time by two clocks.
public struct Moment: Sendable, Hashable {
    /// The monotonic clock: for pace, backoff and timeouts. It never jumps; its zero has no meaning.
    public var steady: Instant
    /// The wall clock: for ages, expiry, embargoes and displayed times. It may be wrong, and may be changed.
    public var wall: Instant

    public init(steady: Instant, wall: Instant) {
        self.steady = steady
        self.wall = wall
    }
}
