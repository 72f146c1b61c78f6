import Dispatch
import NewsModel
import Synchronization

/// Lets a signal end a loop on another thread, also while it waits.
final class StopSign: Sendable {
    private let raised = Mutex(false)
    private let semaphore = DispatchSemaphore(value: 0)

    var isRaised: Bool { raised.withLock { $0 } }

    func raise() {
        raised.withLock { $0 = true }
        semaphore.signal()
    }

    /// Returns at the instant, or as soon as the sign is raised.
    func wait(until instant: ContinuousClock.Instant) {
        let left = ContinuousClock.now.duration(to: instant)
        guard left > .zero, !isRaised else { return }
        _ = semaphore.wait(timeout: .now() + .nanoseconds(Int(left.nanoseconds)))
    }
}
