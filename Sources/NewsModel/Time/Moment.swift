/// What time it is, by two clocks.
public struct Moment: Sendable, Hashable {
    /// The monotonic clock: for pace, backoff and time limits. It never steps; its zero means nothing.
    public var steady: Instant
    /// The clock on the wall: for ages, expiry and embargoes, and for what people read. It may be wrong, and may be set.
    public var wall: Instant

    public init(steady: Instant, wall: Instant) {
        self.steady = steady
        self.wall = wall
    }
}
