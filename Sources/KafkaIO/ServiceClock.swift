import Foundation
package import NewsModel

/// The monotonic and the wall clock of the process.
package struct ServiceClock: Sendable {
    /// The duration that tests add to both clocks; `nil` for none.
    private let ahead: (@Sendable () -> Duration)?

    package init(ahead: (@Sendable () -> Duration)? = nil) { self.ahead = ahead }

    package var now: Moment {
        let moment = Moment(steady: Self.steady, wall: Self.wall)
        guard let ahead = ahead?() else { return moment }
        return Moment(steady: moment.steady + ahead, wall: moment.wall + ahead)
    }

    /// A monotonic time of this clock as the event loops count it.
    package func uptimeNanoseconds(of steady: Instant) -> UInt64 {
        UInt64(clamping: (steady - (ahead?() ?? .zero)).nanoseconds)
    }

    /// The monotonic clock of the event loops.
    package static var steady: Instant {
        #if canImport(Darwin)
        read(CLOCK_UPTIME_RAW)
        #else
        read(CLOCK_MONOTONIC)
        #endif
    }

    /// The system's wall clock, as it is set now.
    package static var wall: Instant { read(CLOCK_REALTIME) }

    /// The time since the machine started. Unlike `steady` it includes the time while the machine was suspended.
    package static var boot: Instant {
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
