/// Compares the clock on the wall with the monotonic one, and so notices when it is set.
package struct WallClock: Sendable {
    /// A larger difference between two looks is a step, not drift.
    static let stepMin = Duration.seconds(2)
    /// For so long after a step nothing under embargo is released by the new time alone: the step may be a mistake.
    static let caution = Duration.seconds(60)

    package init() {}

    /// Wall minus monotonic at the last look; `nil` before the first.
    private var offset: Duration?
    /// The smallest offset of the last minute's steps, and until when it counts.
    private var cautious: (offset: Duration, until: Instant)?

    /// - Returns: the step by which the clock was set since the last look; `nil` if it was not.
    package mutating func look(_ moment: Moment) -> Duration? {
        let current = moment.wall - moment.steady
        if let cautious, moment.steady >= cautious.until { self.cautious = nil }
        defer { offset = current }
        guard let offset, abs(current - offset) > Self.stepMin else { return nil }
        let earliest = min(offset, current, cautious?.offset ?? current)
        cautious = (earliest, moment.steady + Self.caution)
        return current - offset
    }

    package func embargoClock(_ moment: Moment) -> Instant {
        guard let cautious else { return moment.wall }
        return min(moment.wall, moment.steady + cautious.offset)
    }

    /// The monotonic time at which the embargo's clock shows `wall`, unless it is set meanwhile.
    package func steady(ofEmbargo wall: Instant) -> Instant {
        guard let offset else { return .distantFuture }
        let due = wall - offset
        guard let cautious else { return due }
        return max(due, min(wall - cautious.offset, cautious.until))
    }

    /// The monotonic time at which the wall shows `wall`, as far as can be told now.
    package func steady(of wall: Instant) -> Instant {
        wall == .distantFuture ? .distantFuture : wall - (offset ?? .zero)
    }

    private func abs(_ duration: Duration) -> Duration { duration < .zero ? .zero - duration : duration }
}
