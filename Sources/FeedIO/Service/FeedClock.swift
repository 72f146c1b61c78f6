import Foundation
import NIOCore
import NewsModel

/// The clocks: NIO's for scheduled work, the system's for dates.
struct FeedClock: Sendable {
    /// Offset from the machine's clocks, with which tests travel in time.
    let ahead: @Sendable () -> Duration

    static let system = FeedClock { .zero }

    var now: Moment {
        let ahead = ahead()
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Moment(
            steady: Instant(nanoseconds: Int64(clamping: NIODeadline.now().uptimeNanoseconds)) + ahead,
            wall: Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)) + ahead)
    }

    func deadline(of steady: Instant) -> NIODeadline {
        .uptimeNanoseconds(UInt64(clamping: (steady - ahead()).nanoseconds))
    }
}
