import NewsModel

/// When to try again: exponential from `first` to `longest`, half of it drawn by chance so that retries spread out.
public struct RetrySchedule: Sendable, Hashable {
    /// Requests on the wire per delivery, retries included.
    public var attempts: Int
    public var first: Duration
    public var longest: Duration

    public init(attempts: Int = 8, first: Duration = .milliseconds(500), longest: Duration = .seconds(10)) {
        self.attempts = attempts
        self.first = first
        self.longest = longest
    }

    /// How long to wait after the given attempt, 1 being the first.
    public func delay(afterAttempt attempt: Int, using random: inout some RandomNumberGenerator) -> Duration {
        let shift = Int64(min(max(attempt - 1, 0), 30))
        let base = first.nanoseconds.multipliedReportingOverflow(by: 1 << shift)
        let full = min(base.overflow ? .max : base.partialValue, longest.nanoseconds)
        return .nanoseconds(full / 2 + Int64.random(in: 0...max(full / 2, 1), using: &random))
    }
}

/// SplitMix64: small, fast and the same everywhere, for chance that must be replayable from a seed.
public struct SeededRandom: RandomNumberGenerator, Sendable, Hashable {
    private var state: UInt64

    public init(seed: UInt64) {
        state = seed
    }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
