import Foundation
import NIOCore
import NewsModel

/// The time of one process: the wall clock at start plus the monotonic time since, so that it never runs backwards.
struct ServiceClock: Sendable {
    private let wallAtStart: Instant
    private let monotonicAtStart: NIODeadline

    init() {
        wallAtStart = Self.wall
        monotonicAtStart = .now()
    }

    var now: Instant { wallAtStart + .nanoseconds((NIODeadline.now() - monotonicAtStart).nanoseconds) }

    /// When an instant comes on the event loop's clock.
    func deadline(of instant: Instant) -> NIODeadline {
        let distance = (instant - wallAtStart).nanoseconds
        return monotonicAtStart + .nanoseconds(max(distance, 0))
    }

    /// The system's own clock, for access tokens: the hub compares their expiry with its own.
    static var wall: Instant {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}
