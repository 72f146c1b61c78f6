import ByteText
import NewsModel

/// Decides when to poll a feed next, and states the reason, which users of feed readers ask for most.
struct Schedule {
    /// Bounds from the settings.
    var min: Duration
    var max: Duration
    /// The median gap between entries; `nil` while unknown.
    var medianGap: Duration?
    /// The interval before this poll; `nil` after a start.
    var last: Duration?
    var lastNewAt: Instant?
    /// Time for which the publisher promises no change.
    var freshFor: Duration?
    /// The document's own requests; `nil` unless the feed is polite.
    var hints: PollHints?
    /// Factor by which a proven WebSub hub lengthens the interval, up to `max`.
    var webSubFactor = 1

    struct Plan: Sendable, Hashable {
        /// The interval without jitter.
        var interval: Duration
        var because: String
    }

    static let pauseMax: Duration = .seconds(86_400)

    /// Plans the poll that follows an answered one.
    /// - Parameter isChanged: true if the answer brought something new.
    func next(isChanged: Bool, at wall: Instant) -> Plan {
        var plan = Plan(interval: min, because: "the feed's rhythm is not known yet")
        if let medianGap {
            plan = Plan(
                interval: clamped(medianGap / 4),
                because: "a quarter of the usual gap between entries (\(medianGap.words))")
        }
        if !isChanged, let last {
            let longer = clamped(last * 3 / 2)
            if longer > plan.interval {
                plan = Plan(interval: longer, because: "nothing new; half as long again as before")
            }
        }
        if let lastNewAt, wall - lastNewAt < .seconds(900), wall >= lastNewAt {
            plan = Plan(
                interval: Swift.max(plan.interval / 2, min), because: "something new within the last 15 minutes")
        }
        if webSubFactor > 1 {
            plan.interval = clamped(plan.interval * webSubFactor)
            plan.because = "a WebSub hub pushes what is new"
        }
        if let freshFor, freshFor > plan.interval {
            let limited = Swift.min(freshFor, Swift.max(max, plan.interval))
            plan = Plan(interval: limited, because: "limited by the publisher's max-age of \(freshFor.words)")
        }
        return polite(plan, at: wall)
    }

    /// Plans the poll that follows a failure: the interval doubles each time, up to a day.
    static func afterFailure(_ failures: Int, min: Duration) -> Plan {
        let pause = Swift.min(min * (1 << Swift.min(Swift.max(failures, 1), 20)), pauseMax)
        return Plan(interval: pause, because: "\(failures) failure\(failures == 1 ? "" : "s") in a row")
    }

    /// Adds or subtracts up to 10 %, so that feeds are not polled in step.
    static func jittered(_ interval: Duration, using random: inout SeededRandom) -> Duration {
        interval * Int.random(in: 900...1_100, using: &random) / 1_000
    }

    private func clamped(_ interval: Duration) -> Duration { Swift.min(Swift.max(interval, min), Swift.max(max, min)) }

    /// Applies the document's own requests: ttl and update period, then the hours and days to skip.
    private func polite(_ plan: Plan, at wall: Instant) -> Plan {
        guard let hints else { return plan }
        var plan = plan
        for (wish, name) in [(hints.timeToLive, "ttl"), (hints.updatePeriod, "sy:updatePeriod")] {
            if let wish, wish > plan.interval {
                plan = Plan(interval: Swift.min(wish, Self.pauseMax), because: "the feed asks for it by \(name)")
            }
        }
        var at = wall + plan.interval
        // Searches a week of hours. A feed that skips all of them is polled as if it skipped no hour.
        for _ in 0..<(7 * 24) {
            guard Self.isLeftOut(at, hints) else {
                if at > wall + plan.interval {
                    return Plan(interval: at - wall, because: "the feed asks for it by skipHours or skipDays")
                }
                return plan
            }
            let intoHour = at.nanoseconds % 3_600_000_000_000
            at = at + .nanoseconds(3_600_000_000_000 - Swift.max(intoHour, 0))
        }
        return plan
    }

    private static func isLeftOut(_ at: Instant, _ hints: PollHints) -> Bool {
        let hours = Int(clamping: at.nanoseconds / 3_600_000_000_000)
        // 1970-01-01 was a Thursday.
        let day = (hours / 24 + 3) % 7 + 1
        return hints.skippedHours.contains(hours % 24) || hints.skippedDays.contains(day)
    }
}

extension Duration {
    /// Text for sentences: `45 s`, `20 min`, `3 h`.
    var words: String {
        let seconds = components.seconds
        if seconds < 120 { return "\(seconds) s" }
        return seconds < 7_200 ? "\(seconds / 60) min" : "\(seconds / 3_600) h"
    }
}
