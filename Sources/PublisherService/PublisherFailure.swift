import ByteText
public import KafkaModel

/// Why a publisher did not start, or had to stop.
public enum PublisherFailure: Error, Sendable, CustomStringConvertible {
    case kafka(KafkaFailure)
    /// Topics that are missing, or whose partition counts do not fit each other.
    case topics([String])
    case settings(String)
    /// The shutdown's deadline passed before the broker had acknowledged so many results and dead letters. Nothing that
    /// depends on them was committed: the next process does it again.
    case unstored(Int)

    public var description: String {
        switch self {
        case .kafka(let failure): failure.description
        case .topics(let problems): problems.joined(separator: "\n")
        case .settings(let problem): problem
        case .unstored(let count):
            "the broker did not acknowledge \(counted(count, "result or dead letter", plural: "results or dead letters")) in time; "
                + "nothing that depends on them is committed, and the next start repeats it. Look at the brokers, the results and the dead-letter topic"
        }
    }
}
