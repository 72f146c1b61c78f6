public import KafkaModel
import Synchronization

/// Limits log lines about Kafka failures to one per kind in half a minute.
public final class FailureThrottle: Sendable {
    private let last = Mutex<[String: ContinuousClock.Instant]>([:])

    private static let pause = Duration.seconds(30)

    public init() {}

    /// Returns true if no failure of this kind was due in the last half minute. Any thread.
    public func isDue(_ failure: KafkaFailure) -> Bool {
        let now = ContinuousClock.now
        return last.withLock { last in
            if let before = last[failure.code], before.duration(to: now) < Self.pause { return false }
            last[failure.code] = now
            return true
        }
    }
}
