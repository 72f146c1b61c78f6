package import NewsModel
package import PublishEngine

/// The hours in which a backfill writes events. It pauses outside them.
package struct PublishSchedule: Sendable, Hashable {
    package var window: DailyWindow

    package init(window: DailyWindow) {
        self.window = window
    }

    /// Creates a schedule from a text such as `01:00-05:00`.
    ///
    /// - Returns: `nil` for a text of another form.
    package init?(between text: String, zone: ClockZone) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let from = Self.minutes(parts[0]), let to = Self.minutes(parts[1]), from != to,
            from < 1_440
        else { return nil }
        window = DailyWindow(from: from, to: to, zone: zone)
    }

    /// The minutes after midnight of a text such as `1:00`. Accepts `24:00`.
    private static func minutes(_ text: Substring) -> Int? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, (1...2).contains(parts[0].count), parts[1].count == 2,
            (parts[0] + parts[1]).allSatisfy({ $0.isASCII && $0.isNumber }), let hours = Int(parts[0]),
            let minutes = Int(parts[1]),
            (0...23).contains(hours) && (0...59).contains(minutes) || hours == 24 && minutes == 0
        else { return nil }
        return hours * 60 + minutes
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
