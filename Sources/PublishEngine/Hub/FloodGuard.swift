/// Stops a lane when most recent events fail for their own fault: a broken deploy upstream must not turn the newsroom's whole
/// topic into dead letters.
public struct FloodGuard: Sendable, Hashable {
    let settings: Settings
    /// The last `settings.events` outcomes, true for a dead letter; those not yet seen count as good.
    private var recent: [Bool]
    private var next = 0
    private var failures = 0

    public struct Settings: Sendable, Hashable {
        /// Percentage of failures among the last `events` that stops the lane, 1…100; 0 turns the guard off.
        public var sharePercent: Int
        /// The number of outcomes looked at, at least 1.
        public var events: Int

        public init(sharePercent: Int = 50, events: Int = 500) {
            self.sharePercent = sharePercent
            self.events = events
        }
    }

    public init(_ settings: Settings) {
        self.settings = settings
        recent = Array(repeating: false, count: max(settings.events, 1))
    }

    public var trips: Bool {
        settings.sharePercent > 0 && failures * 100 >= settings.sharePercent * recent.count
    }

    public mutating func note(failed: Bool) {
        if recent[next] { failures -= 1 }
        if failed { failures += 1 }
        recent[next] = failed
        next = next + 1 == recent.count ? 0 : next + 1
    }

    public mutating func reset() { self = FloodGuard(settings) }
}

/// An operator's decision about the records that wait on a flooded lane.
public enum FloodRelease: String, Sendable, Hashable, CaseIterable {
    /// Good ones go out, failing ones end as dead letters one by one.
    case send
    /// All of them end as dead letters, without a request.
    case deadLetter = "dead-letter"
}
