import NewsModel

/// How fast questions may leave, and why they may not: the sends' own quota must not suffer from them.
struct AskingPace: Sendable {
    /// Questions a second of this process, in thousandths.
    private(set) var perKilosecond: Int
    private var nextAt = Instant.distantPast
    private(set) var pausedUntil = Instant.distantPast
    /// So much may be caught up after a late alarm.
    private static let tolerance = Duration.milliseconds(20)

    init(perSecond: Int) { perKilosecond = perSecond * 1_000 }

    /// The part of the group's pace that falls to the owner of so many partitions.
    mutating func share(_ perSecond: Int, partitions: Int, of total: Int) {
        let (owned, all) = (max(partitions, 0), max(total, partitions, 1))
        perKilosecond = max(perSecond * 1_000 * owned / all, 1)
    }

    /// When the next question may leave.
    var opensAt: Instant { max(nextAt, pausedUntil) }

    mutating func take(at now: Instant) -> Bool {
        guard opensAt <= now else { return false }
        nextAt = max(nextAt, now - Self.tolerance) + .nanoseconds(1_000_000_000_000 / Int64(perKilosecond))
        return true
    }

    /// Nothing leaves until then; an earlier time does not shorten a pause.
    mutating func pause(until time: Instant) { pausedUntil = max(pausedUntil, time) }
    mutating func resume() { pausedUntil = .distantPast }
}
