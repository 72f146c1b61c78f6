package import NewsModel
import PublisherService

/// The most events a second, for all files of a command together. Used from one thread.
package final class PublishPace {
    private let rate: Int
    private var start: ContinuousClock.Instant
    /// The records that were taken before.
    private var taken: Int

    /// - Parameter rate: events per second, from 1.
    package init(rate: Int, start: ContinuousClock.Instant = .now) {
        self.rate = max(rate, 1)
        self.start = start
        taken = 0
    }

    /// When the record behind so many may leave.
    package func due(after published: Int) -> ContinuousClock.Instant {
        start + .nanoseconds(Int64(published - taken) * 1_000_000_000 / Int64(rate))
    }

    /// After a pause: what was not written meanwhile is not made up for.
    package func restart(after published: Int, at now: ContinuousClock.Instant) {
        start = now
        taken = published
    }
}

/// The clock on the wall, and the waiting for its times.
package struct PublishClock: Sendable {
    package var now: @Sendable () -> Instant
    /// Returns at that time, or before if the flag is raised.
    package var wait: @Sendable (Instant, StopFlag) -> Void

    package init(now: @escaping @Sendable () -> Instant, wait: @escaping @Sendable (Instant, StopFlag) -> Void) {
        self.now = now
        self.wait = wait
    }

    package static let system = PublishClock(
        now: { ServiceClock().now.wall },
        wait: { time, stop in stop.wait(until: .now + (time - ServiceClock().now.wall)) })
}
