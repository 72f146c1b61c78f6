public import KafkaModel
import Synchronization

/// Which failures of Kafka are worth a line in the log: each kind at most once in half a minute.
public final class FailureThrottle: Sendable {
    private let last = Mutex<[String: ContinuousClock.Instant]>([:])

    private static let pause = Duration.seconds(30)

    public init() {}

    /// True if nothing of its kind was due shortly before. Any thread.
    public func isDue(_ failure: KafkaFailure) -> Bool {
        let now = ContinuousClock.now
        return last.withLock { last in
            if let before = last[failure.code], before.duration(to: now) < Self.pause { return false }
            last[failure.code] = now
            return true
        }
    }
}
