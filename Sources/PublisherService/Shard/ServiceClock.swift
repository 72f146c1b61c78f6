import Foundation
import NIOCore
package import NewsModel

/// The monotonic and the wall clock of the process.
package struct ServiceClock: Sendable {
    package init() {}

    package var now: Moment { Moment(steady: Self.steady, wall: Self.wall) }

    /// A monotonic instant on the event loop's clock.
    func deadline(of steady: Instant) -> NIODeadline {
        .uptimeNanoseconds(UInt64(clamping: steady.nanoseconds))
    }

    /// The event loops' monotonic clock.
    static var steady: Instant { Instant(nanoseconds: Int64(clamping: NIODeadline.now().uptimeNanoseconds)) }

    /// The system's wall clock, as it is set now.
    static var wall: Instant { read(CLOCK_REALTIME) }

    /// The time since the machine started. Unlike `steady` it includes the time while the machine was suspended.
    static var boot: Instant {
        #if os(Linux)
        read(CLOCK_BOOTTIME)
        #else
        // Darwin's monotonic clock includes suspended time.
        read(CLOCK_MONOTONIC)
        #endif
    }

    private static func read(_ clock: clockid_t) -> Instant {
        var time = timespec()
        clock_gettime(clock, &time)
        return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}
