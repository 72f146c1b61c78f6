import ByteText

/// The `Retry-After` header: seconds, or the date to come back. RFC 9110 §10.2.3.
public enum RetryAfter {
    /// A hub that asks for more is asked again after a day.
    public static let max: Duration = .seconds(86_400)

    /// How long to stay away, 0 s…`max`.
    /// - Parameter now: Unix seconds; a date in the past means no wait.
    /// - Returns: `nil` when the value is neither.
    public static func duration(of value: some StringProtocol, now: Int64) -> Duration? {
        let value = value.trimmed
        guard (1...64).contains(value.utf8.count) else { return nil }
        if value.utf8.allSatisfy(\.isASCIIDigit) {
            return bounded(Int64(value) ?? .max)
        }
        guard let date = HTTPDate.seconds(of: value, now: now) else { return nil }
        let (wait, overflow) = date.subtractingReportingOverflow(now)
        return bounded(overflow ? (now < 0 ? .max : 0) : wait)
    }

    private static func bounded(_ seconds: Int64) -> Duration {
        min(.seconds(Swift.max(0, seconds)), max)
    }
}
