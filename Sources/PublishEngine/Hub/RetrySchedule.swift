import NewsModel

/// Delays between attempts: exponential from `first` to `longest`, half of each drawn by chance so that retries spread out.
public struct RetrySchedule: Sendable, Hashable {
    /// Requests per delivery, the first included; `nil`: no bound until its deadline, or `attemptsWithoutDeadline`.
    public var attempts: Int?
    public var first: Duration
    public var longest: Duration

    public static let attemptsWithoutDeadline = 20
    /// The time over which retries of a possibly accepted delivery are spread, so that they outlast an outage of a
    /// minute.
    public static let unknownSpread = Duration.seconds(120)

    public init(attempts: Int? = nil, first: Duration = .milliseconds(500), longest: Duration = .seconds(30)) {
        self.attempts = attempts
        self.first = first
        self.longest = longest
    }

    /// The delay after the given request whose acceptance is unknown; the first is 1. Each of the gaps between `total`
    /// requests is four times the previous one. Together they last at least `unknownSpread`.
    public func gap(
        afterUnknown number: Int, of total: Int, using random: inout some RandomNumberGenerator
    ) -> Duration {
        let gaps = min(max(total - 1, 1), 20)
        var sum: Int64 = 0
        for gap in 0..<gaps { sum += 1 << (2 * Int64(gap)) }
        let part = Self.unknownSpread.nanoseconds / sum + 1
        let full = part * (1 << (2 * Int64(min(max(number, 1), gaps) - 1)))
        return .nanoseconds(full + Int64.random(in: 0...(full / 4), using: &random))
    }

    /// The delay after the given attempt; the first is 1.
    public func delay(afterAttempt attempt: Int, using random: inout some RandomNumberGenerator) -> Duration {
        let shift = Int64(min(max(attempt - 1, 0), 30))
        let base = first.nanoseconds.multipliedReportingOverflow(by: 1 << shift)
        let full = min(base.overflow ? .max : base.partialValue, longest.nanoseconds)
        return .nanoseconds(full / 2 + Int64.random(in: 0...max(full / 2, 1), using: &random))
    }
}
