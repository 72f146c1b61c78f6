import ByteText

/// The `Retry-After` header as a wait. RFC 9110 §10.2.3.
public enum RetryAfter {
    /// The longest wait. Longer ones are shortened to one day.
    public static let max: Duration = .seconds(86_400)

    /// The wait, 0 s…`max`.
    /// - Parameter now: Unix seconds. A date in the past means no wait.
    /// - Returns: `nil` if the value is neither a number of seconds nor a date.
    public static func duration(of value: some StringProtocol, now: Int64) -> Duration? {
        RetryAfterHeader.seconds(of: value, now: now).map { min(.seconds($0), max) }
    }
}
