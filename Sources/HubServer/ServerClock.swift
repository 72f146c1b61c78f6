import Foundation
import HubEmulator

/// The hub's time: the wall clock at start plus the time elapsed since, so that it never runs backwards.
struct ServerClock: Sendable {
    private let origin = HubTime(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
    private let start = ContinuousClock.now

    var now: HubTime {
        let (seconds, attoseconds) = (ContinuousClock.now - start).components
        return origin.advanced(byMilliseconds: seconds * 1000 + attoseconds / 1_000_000_000_000_000)
    }
}
