/// Decides when embargoes end and orders lapse. It compares the wall clock with the monotonic clock to detect when the wall clock is
/// set, and with the hub's clock to detect when it is ahead. Of times that contradict each other, the earliest one counts.
///
/// The hub's time advances by the monotonic clock, so it stays known when the wall clock is set.
package struct WallClock: Sendable {
    /// A larger difference between two calls of `look` is a step, not drift.
    static let stepMin = Duration.seconds(2)
    /// After a step, embargoes do not end by the new time alone for this long, because the step may be a mistake.
    static let caution = Duration.seconds(60)

    /// - Parameter asksHub: no embargo ends before the hub has told its time, or has answered without one.
    package init(asksHub: Bool = false) { awaitsHub = asksHub }

    /// Wall minus monotonic at the last look; `nil` before the first.
    private var offset: Duration?
    /// The smallest offset of the last minute's steps, and the end of its validity.
    private var cautious: (offset: Duration, until: Instant)?

    /// The hub's time minus monotonic; `nil` if it is unknown.
    private var hubOffset: Duration?

    package var hasHeardHub: Bool { hubOffset != nil }

    /// True while no embargo ends, because the hub's time is still to come.
    package private(set) var awaitsHub: Bool

    /// Takes the time of the hub.
    ///
    /// - Parameter hub: the monotonic time at which a reply came, and the `Date` on it; `nil` if it had none.
    package mutating func hear(hub: Moment?) {
        awaitsHub = false
        if let hub { hubOffset = hub.wall - hub.steady }
    }

    /// Forgets the hub's time, because the monotonic clock may have stood still. A hub whose replies have no time is not awaited.
    package mutating func forgetHub() {
        guard hubOffset != nil else { return }
        (hubOffset, awaitsHub) = (nil, true)
    }

    /// - Returns: the step of the wall clock since the last call; `nil` without one.
    package mutating func look(_ moment: Moment) -> Duration? {
        let current = moment.wall - moment.steady
        if let cautious, moment.steady >= cautious.until { self.cautious = nil }
        defer { offset = current }
        guard let offset, abs(current - offset) > Self.stepMin else { return nil }
        let earliest = min(offset, current, cautious?.offset ?? current)
        cautious = (earliest, moment.steady + Self.caution)
        return current - offset
    }

    /// The time by which embargoes end. While the hub's time is awaited, none ends.
    package func releaseClock(_ moment: Moment) -> Instant { awaitsHub ? .distantPast : embargoClock(moment) }

    /// The time by which embargoes would end by present knowledge.
    package func embargoClock(_ moment: Moment) -> Instant {
        var time = moment.wall
        if let cautious { time = min(time, moment.steady + cautious.offset) }
        if let hubOffset, isAhead(moment.wall - moment.steady) { time = min(time, moment.steady + hubOffset) }
        return time
    }

    /// Returns true if a wall clock of that offset is ahead of the hub's by more than the tolerance.
    private func isAhead(_ offset: Duration) -> Bool {
        hubOffset.map { offset - $0 > ClockWitnesses.tolerance } ?? false
    }

    /// The monotonic time at which the release clock shows `wall`, by present knowledge.
    package func steady(ofRelease wall: Instant) -> Instant {
        awaitsHub && wall > .distantPast ? .distantFuture : steady(ofEmbargo: wall)
    }

    /// The monotonic time at which the embargo's clock shows `wall`, unless it is set meanwhile.
    package func steady(ofEmbargo wall: Instant) -> Instant {
        guard let offset else { return .distantFuture }
        var due = wall - offset
        if let hubOffset, isAhead(offset) { due = max(due, wall - hubOffset) }
        guard let cautious else { return due }
        return max(due, min(wall - cautious.offset, cautious.until))
    }

    /// The monotonic time at which the wall clock will show `wall`, by present knowledge.
    package func steady(of wall: Instant) -> Instant {
        wall == .distantFuture ? .distantFuture : wall - (offset ?? .zero)
    }

    private func abs(_ duration: Duration) -> Duration { duration < .zero ? .zero - duration : duration }
}

/// Detects that the process stood still: it was frozen or suspended, or it got no processor time for seconds.
///
/// The owner calls `look` at least ten times a second, and before it acts on anything that waited for it. After a
/// standstill its knowledge is outdated: others may own its partitions, or the hub may be stopped.
package struct StandstillWatch: Sendable {
    /// A longer gap between two calls of `look` is a standstill. Loaded machines have gaps of a second.
    package static let gapMin = Duration.seconds(3)

    private var lookedAt: Instant?

    package init() {}

    /// - Parameter now: the time of a clock that runs while the machine is suspended, such as `CLOCK_BOOTTIME`.
    /// - Returns: the length of the standstill since the last call; `nil` without one.
    package mutating func look(_ now: Instant) -> Duration? {
        defer { lookedAt = now }
        guard let lookedAt, now - lookedAt >= Self.gapMin else { return nil }
        return now - lookedAt
    }
}
