import NewsModel

/// The time since anything arrived from the topic, by the monotonic clock.
struct Silence: Sendable {
    var isStale = false
    private var heardAt: Instant?
    private var askedAt: Instant?

    /// End of the last long silence.
    private var endedAt: Instant?

    private static let pause = Duration.seconds(15)
    /// Our own beats arrive more often. After a longer silence, this process may have missed ends of orders.
    static let longest = ControlRecord.Beat.interval + .seconds(5)

    mutating func heard(_ now: Moment) {
        if duration(now) > Self.longest { endedAt = now.steady }
        heardAt = now.steady
    }

    /// True during a long silence and for a minute after it.
    func isLong(_ now: Moment) -> Bool {
        duration(now) > Self.longest || endedAt.map { now.steady - $0 <= .seconds(60) } ?? false
    }
    mutating func asked(_ now: Moment) { askedAt = now.steady }

    func duration(_ now: Moment) -> Duration { heardAt.map { max(.zero, now.steady - $0) } ?? .zero }

    /// Limits how often the topic is read again, because reading it takes time.
    func mayAsk(_ now: Moment) -> Bool { askedAt.map { now.steady - $0 >= Self.pause } ?? true }
}
