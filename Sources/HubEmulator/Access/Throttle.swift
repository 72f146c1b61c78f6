/// Limits calls per minute. A full minute's calls may come at once, then one more per interval. Uses virtual scheduling
/// in integer microseconds.
struct Throttle: Sendable {
    private let interval: Int64
    private let burst: Int64
    /// The time at which the last admitted call would have come if all had been evenly spaced, in microseconds.
    private var scheduled: Int64 = .min

    init(perMinute: Int) {
        let limit = Int64(max(1, perMinute))
        interval = max(1, (60_000_000 + limit - 1) / limit)
        burst = 60_000_000
    }

    /// - Returns: `nil` if the call is admitted; otherwise the seconds until the next call will be, at least 1.
    mutating func secondsToWait(at now: HubTime) -> Int64? {
        let (micros, overflow) = now.milliseconds.multipliedReportingOverflow(by: 1000)
        guard !overflow else { return nil }
        let base = max(scheduled, micros)
        if base - micros > burst - interval {
            return max(1, (base - micros - (burst - interval) + 999_999) / 1_000_000)
        }
        scheduled = base + interval
        return nil
    }
}
