import KafkaModel
import Logging
import Synchronization

/// Logs failures of Kafka that pass by themselves: each kind at most once in a while, as a broker that is away brings them by
/// the dozen.
final class Complaints: Sendable {
    private let log: Logger
    private let last = Mutex<[String: ContinuousClock.Instant]>([:])

    private static let pause = Duration.seconds(30)

    init(_ log: Logger) {
        self.log = log
    }

    func take(_ failure: KafkaFailure) {
        let now = ContinuousClock.now
        let isDue = last.withLock { last in
            if let before = last[failure.code], before.duration(to: now) < Self.pause { return false }
            last[failure.code] = now
            return true
        }
        log.log(level: isDue ? .warning : .debug, "\(failure)")
    }
}
