import ByteText

/// A point in time for the hub's rules, in milliseconds since 1970-01-01T00:00:00Z.
///
/// The rules never read a clock; whoever calls them says what time it is.
public struct HubTime: Hashable, Comparable, Sendable {
    public var milliseconds: Int64

    public init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    /// Saturates at the ends of the representable range.
    public init(seconds: Int64) {
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        milliseconds = overflow ? (seconds < 0 ? .min : .max) : product
    }

    /// What the service writes for "never": 9999-12-31T23:59:59.999Z.
    public static let never = HubTime(milliseconds: 253_402_300_799_999)

    /// Whole seconds since 1970, rounded down.
    public var seconds: Int64 { milliseconds.flooredQuotientAndRemainder(dividingBy: 1000).quotient }

    public static func < (lhs: HubTime, rhs: HubTime) -> Bool { lhs.milliseconds < rhs.milliseconds }

    /// Saturating.
    public func advanced(byMilliseconds amount: Int64) -> HubTime {
        let (sum, overflow) = milliseconds.addingReportingOverflow(amount)
        return HubTime(milliseconds: overflow ? (amount < 0 ? .min : .max) : sum)
    }

    /// Saturating; negative when `earlier` is later.
    public func millisecondsSince(_ earlier: HubTime) -> Int64 {
        let (difference, overflow) = milliseconds.subtractingReportingOverflow(earlier.milliseconds)
        return overflow ? (self < earlier ? .min : .max) : difference
    }
}
