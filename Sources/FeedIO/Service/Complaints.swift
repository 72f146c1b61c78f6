import KafkaIO
import KafkaModel
import Logging

/// Logs temporary failures of Kafka. Each kind is logged at most once per interval, because an unreachable broker
/// causes dozens of failures.
final class Complaints: Sendable {
    private let log: Logger
    private let throttle = FailureThrottle()

    init(_ log: Logger) {
        self.log = log
    }

    func take(_ failure: KafkaFailure) {
        log.log(level: throttle.isDue(failure) ? .warning : .debug, "\(failure)")
    }
}
