import Glibc
import KafkaModel
import NewsModel

/// One turn of the polling thread: its time, and the events it produced.
struct Turn {
    var now: Instant
    var events: ShardEvents
    let notify: @Sendable (KafkaNotice) -> Void
}

/// Nanoseconds of `CLOCK_MONOTONIC`, as NIO's deadlines have them.
enum MonotonicClock {
    static var now: Instant {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}
