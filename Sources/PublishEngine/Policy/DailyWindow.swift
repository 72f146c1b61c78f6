public import NewsModel

/// A part of every day, such as 22:00 to 07:00, by the clocks of a zone.
public struct DailyWindow: Sendable, Hashable {
    /// Minutes after midnight, 0...1,440. A window that ends no later than it begins ends on the next day.
    public var from: Int
    public var to: Int
    public var zone: ClockZone

    public init(from: Int, to: Int, zone: ClockZone) {
        // 24:00 to 06:00 begins at midnight.
        self.from = from == 1_440 ? 0 : from
        self.to = to
        self.zone = zone
    }

    /// The end of the window that contains the time; `nil` outside.
    ///
    /// When clocks are put back, a time that comes twice begins a window the first time and ends one the second time.
    /// When they are put forward, a skipped time stands for the moment of the change.
    public func end(at wall: Instant) -> Instant? {
        let today = zone.day(at: wall)
        for day in [today - 1, today] {
            let end = zone.instants(of: to, on: day + (from < to ? 0 : 1)).last
            if wall < end, zone.instants(of: from, on: day).first <= wall { return end }
        }
        return nil
    }
}

extension DailyWindow {
    /// The next beginning of the window; the time itself if it is inside.
    public func opening(at wall: Instant) -> Instant {
        if end(at: wall) != nil { return wall }
        let today = zone.day(at: wall)
        // The beginning may fall on a clock change, which yesterday's beginning may have too.
        for day in today - 1...today + 2 {
            let begin = zone.instants(of: from, on: day).first
            if begin > wall { return begin }
        }
        return wall
    }
}

/// The clocks of one zone, as a table: reading the world's time zones is IO.
public struct ClockZone: Sendable, Hashable {
    /// The zone's name, e.g. `Europe/Berlin`.
    public var name: String
    /// Seconds ahead of UTC before the first change.
    public var offset: Int
    /// The changes in the order of time; after the last one the offset stays.
    public var changes: [Change]

    public struct Change: Sendable, Hashable {
        /// The time of the change in seconds since 1970.
        public var at: Int
        /// Seconds ahead of UTC after the change.
        public var offset: Int

        public init(at: Int, offset: Int) {
            self.at = at
            self.offset = offset
        }
    }

    public init(name: String, offset: Int = 0, changes: [Change] = []) {
        self.name = name
        self.offset = offset
        self.changes = changes
    }

    public static let utc = ClockZone(name: "UTC")

    private static let day = 86_400

    /// Days since 1970, by the zone's calendar.
    func day(at wall: Instant) -> Int {
        let seconds = Int(wall.nanoseconds / 1_000_000_000)
        let shown = seconds + offset(at: seconds)
        return shown >= 0 ? shown / Self.day : (shown + 1) / Self.day - 1
    }

    /// The first and last time at which the zone's clocks show this many minutes after midnight on a day.
    func instants(of minutes: Int, on day: Int) -> (first: Instant, last: Instant) {
        // The time shown by the clocks. No zone changes its clocks twice in two days.
        let shown = day * Self.day + minutes * 60
        let (before, after) = (offset(at: shown - Self.day), offset(at: shown + Self.day))
        let candidates = [shown - before, shown - after].filter { shown - $0 == offset(at: $0) }
        if let first = candidates.min(), let last = candidates.max() {
            return (Self.instant(first), Self.instant(last))
        }
        let change = changes.first { $0.at > shown - after }?.at ?? shown - before
        return (Self.instant(change), Self.instant(change))
    }

    /// - Parameter seconds: since 1970.
    private func offset(at seconds: Int) -> Int {
        var (low, high) = (0, changes.count)
        while low < high {
            let middle = (low + high) / 2
            if changes[middle].at <= seconds { low = middle + 1 } else { high = middle }
        }
        return low == 0 ? offset : changes[low - 1].offset
    }

    private static func instant(_ seconds: Int) -> Instant {
        Instant(milliseconds: Int64(seconds).multipliedReportingOverflow(by: 1_000).partialValue)
    }
}
