public import KafkaIO

/// Why a publisher did not start, or had to stop.
public enum PublisherFailure: Error, Sendable, CustomStringConvertible {
    case kafka(KafkaFailure)
    /// Topics that are missing, or whose partition counts do not fit each other.
    case topics([String])
    case settings(String)
    /// A result or dead letter cannot be stored; nothing that depends on it was committed.
    case recordsRefused(KafkaFailure)

    public var description: String {
        switch self {
        case .kafka(let failure): failure.description
        case .topics(let problems): problems.joined(separator: "\n")
        case .settings(let problem): problem
        case .recordsRefused(let failure): "a result or dead letter cannot be stored: \(failure)"
        }
    }
}
