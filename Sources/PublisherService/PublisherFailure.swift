public import KafkaIO

/// Why a publisher did not start, or had to stop.
public enum PublisherFailure: Error, Sendable, CustomStringConvertible {
    case kafka(KafkaFailure)
    /// Topics that are missing, or whose partition counts do not fit each other.
    case topics([String])
    case settings(String)
    /// A result could not be stored for good; nothing that depends on it was committed.
    case resultsRefused(KafkaFailure)

    public var description: String {
        switch self {
        case .kafka(let failure): failure.description
        case .topics(let problems): problems.joined(separator: "\n")
        case .settings(let problem): problem
        case .resultsRefused(let failure): "the results topic refuses records: \(failure)"
        }
    }
}
