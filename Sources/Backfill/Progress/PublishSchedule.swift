import ByteText
package import NewsModel
package import PublishEngine

/// The hours in which a backfill writes events. It pauses outside them.
package struct PublishSchedule: Sendable, Hashable {
    package var window: DailyWindow
}

extension PublishSchedule {
    /// Creates a schedule from a text such as `01:00-05:00`.
    ///
    /// - Returns: `nil` for a text of another form.
    package init?(between text: String, zone: ClockZone) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let from = minutesAfterMidnight(parts[0]),
            let to = minutesAfterMidnight(parts[1]), from != to, from < 1_440
        else { return nil }
        window = DailyWindow(from: from, to: to, zone: zone)
    }

    /// The next time at which writing is allowed, which is `wall` itself during the hours.
    package func opening(at wall: Instant) -> Instant { window.opening(at: wall) }

    /// The time at which work is done that begins at `start` and pauses outside the hours.
    package func end(of work: Duration, from start: Instant) -> Instant {
        var (now, left) = (start, work)
        // After a thousand nights, further pauses are ignored: nobody waits that long.
        for _ in 0..<1_000 {
            now = opening(at: now)
            guard let close = window.end(at: now), close - now < left else { break }
            left -= close - now
            now = close
        }
        return now + left
    }
}

/// Limits the events per second of all files of a command together. Used from one thread.
package final class PublishPace {
    private let rate: Int
    private var start: ContinuousClock.Instant
    /// The number of records published before `start`.
    private var taken: Int

    /// - Parameter rate: events per second, at least 1.
    package init(rate: Int, start: ContinuousClock.Instant) {
        self.rate = max(rate, 1)
        self.start = start
        taken = 0
    }

    /// The earliest time at which the next record may be sent after `published` records.
    package func due(after published: Int) -> ContinuousClock.Instant {
        start + .nanoseconds(Int64(published - taken) * 1_000_000_000 / Int64(rate))
    }

    /// Restarts the pace after a pause, so that the records missed during the pause are not caught up.
    package func restart(after published: Int, at now: ContinuousClock.Instant) {
        start = now
        taken = published
    }
}
