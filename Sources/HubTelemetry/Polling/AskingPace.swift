import NewsModel

/// The pace of questions, and pauses. The pace keeps questions from using up the quota of sends.
struct AskingPace: Sendable {
    /// Questions per second of this process, in thousandths.
    private(set) var perKilosecond: Int
    private var nextAt = Instant.distantPast
    private(set) var pausedUntil = Instant.distantPast
    /// The largest delay that is made up for after a late alarm.
    private static let tolerance = Duration.milliseconds(20)

    init(perSecond: Int) { perKilosecond = perSecond * 1_000 }

    /// Sets this process's part of the group's pace, in proportion to the partitions that it owns.
    mutating func share(_ perSecond: Int, partitions: Int, of total: Int) {
        let (owned, all) = (max(partitions, 0), max(total, partitions, 1))
        perKilosecond = max(perSecond * 1_000 * owned / all, 1)
    }

    /// The earliest time for the next question.
    var opensAt: Instant { max(nextAt, pausedUntil) }

    mutating func admit(at now: Instant) -> Bool {
        guard opensAt <= now else { return false }
        nextAt = max(nextAt, now - Self.tolerance) + .nanoseconds(1_000_000_000_000 / Int64(perKilosecond))
        return true
    }

    /// Stops questions until a time. An earlier time does not shorten a pause.
    mutating func pause(until time: Instant) { pausedUntil = max(pausedUntil, time) }
    mutating func resume() { pausedUntil = .distantPast }
}
