public import NewsModel

/// Decides when a token is renewed, and when its absence is a problem. Its times are those of a clock that never jumps.
public struct TokenRenewal: Sendable {
    /// The time of the next attempt.
    public private(set) var due = Instant.distantPast
    /// The end of the token's lifetime; in the past without a token.
    public private(set) var validUntil = Instant.distantPast
    private var failures = 0
    private var last: KafkaFailure?

    private static let pauseMin = Duration.seconds(1)
    private static let pauseMax = Duration.seconds(30)

    public init() {}

    /// Renews after four fifths of the lifetime, so that some attempts may fail before the token ends.
    public mutating func received(_ token: OAuthToken, at now: Instant) {
        (failures, last) = (0, nil)
        validUntil = now + token.lifetime
        due = now + max(token.lifetime * 4 / 5, Self.pauseMin)
    }

    public mutating func failed(_ failure: KafkaFailure, at now: Instant) {
        last = failure
        due = now + min(Self.pauseMin * (1 << min(failures, 10)), Self.pauseMax)
        failures += 1
    }

    /// Renews at once, because the settings have changed.
    public mutating func hurry() { (due, failures) = (.distantPast, 0) }

    /// The reason why clients cannot log in, or soon cannot; `nil` without one. A single failure is no reason while the token is
    /// valid, because the next attempt follows.
    public func problem(at now: Instant) -> KafkaFailure? { failures > 1 || now >= validUntil ? last : nil }
}
