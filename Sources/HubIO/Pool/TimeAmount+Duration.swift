internal import NIOCore

extension TimeAmount {
    /// From zero to a year, so that adding it to a deadline never overflows.
    init(_ duration: Duration) {
        let (seconds, attoseconds) = max(.zero, min(duration, .seconds(365 * 86_400))).components
        self = .seconds(seconds) + .nanoseconds(attoseconds / 1_000_000_000)
    }
}
