import KafkaIO
import KafkaModel
import Logging

/// Logs failures of Kafka that pass by themselves: each kind at most once in a while, as a broker that is away brings them by
/// the dozen.
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
