import KafkaIO
package import NewsModel
import PublisherService

/// Limits the events per second of all files of a command together. Used from one thread.
package final class PublishPace {
    private let rate: Int
    private var start: ContinuousClock.Instant
    /// The number of records published before `start`.
    private var taken: Int

    /// - Parameter rate: events per second, at least 1.
    package init(rate: Int, start: ContinuousClock.Instant = .now) {
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

/// The wall clock, and a way to wait until one of its times.
package struct PublishClock: Sendable {
    package var now: @Sendable () -> Instant
    /// Returns at the given time, or earlier if the flag is raised.
    package var wait: @Sendable (Instant, StopFlag) -> Void

    package init(now: @escaping @Sendable () -> Instant, wait: @escaping @Sendable (Instant, StopFlag) -> Void) {
        self.now = now
        self.wait = wait
    }

    package static let system = PublishClock(
        now: { ServiceClock().now.wall },
        wait: { time, stop in stop.wait(until: .now + (time - ServiceClock().now.wall)) })
}
