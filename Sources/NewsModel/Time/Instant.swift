import ByteText

/// A point in time, in nanoseconds since 1970-01-01T00:00:00Z, leap seconds not counted.
///
/// All decisions take the time as an argument; nothing in this module reads a clock.
public struct Instant: Hashable, Comparable, Sendable {
    public var nanoseconds: Int64

    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// Saturates at `distantPast` and `distantFuture`, because the value may come from outside.
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

    /// The duration between two instants, saturating.
    public static func - (lhs: Instant, rhs: Instant) -> Duration {
        let (difference, overflow) = lhs.nanoseconds.subtractingReportingOverflow(rhs.nanoseconds)
        return Duration(nanoseconds: overflow ? (lhs < rhs ? .min : .max) : difference)
    }
}

extension Duration {
    private static let attosecondsPerNanosecond: Int128 = 1_000_000_000

    /// Like `nanoseconds(_:)`, which checks for an overflow that 64 bits cannot cause.
    fileprivate init(nanoseconds: Int64) {
        self.init(attoseconds: Int128(nanoseconds) &* Self.attosecondsPerNanosecond)
    }

    /// The whole duration in nanoseconds, saturating at about ±292 years.
    public var nanoseconds: Int64 {
        // A 128-bit division costs more than the other arithmetic. Half of the divisor's factors are twos. After
        // shifting them out, all durations from zero to two hours fit in 64 bits.
        if let shifted = UInt64(exactly: attoseconds >> 9) { return Int64(shifted / 1_953_125) }
        return Int64(clamping: attoseconds / Self.attosecondsPerNanosecond)
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
