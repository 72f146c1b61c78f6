import ByteText
public import KafkaModel

/// The reason why a publisher did not start, or had to stop.
public enum PublisherFailure: Error, Sendable, CustomStringConvertible {
    case kafka(KafkaFailure)
    /// Topics without which a promise would be broken.
    case topics([TopicRules.Finding])
    case settings(String)
    /// The shutdown's deadline passed before the broker had acknowledged so many results and dead letters. Nothing that
    /// depends on them was committed: the next process does it again.
    case unstored(Int)

    public var description: String {
        switch self {
        case .kafka(let failure): failure.description
        case .topics(let problems): problems.map(\.description).joined(separator: "\n")
        case .settings(let problem): problem
        case .unstored(let count):
            "the broker did not acknowledge \(counted(count, "result or dead letter", plural: "results or dead letters")) "
                + "in time; nothing that depends on them is committed, and the next start repeats it. Look at the "
                + "brokers, the results topic and the dead-letter topic"
        }
    }

    /// The settings are wrong: neither time nor a restart helps.
    public var isConfiguration: Bool {
        switch self {
        case .kafka(let failure): failure.isConfiguration
        case .settings: true
        case .topics, .unstored: false
        }
    }

    /// Time or an operator may remove the cause while the process waits.
    var mayPass: Bool {
        switch self {
        case .kafka(let failure): !failure.isFatal && !isConfiguration
        case .topics(let problems): problems.allSatisfy { $0.problem == .missing }
        case .settings, .unstored: false
        }
    }

    /// The reason for not being ready while it lasts.
    var notReady: ServiceStatus.NotReady {
        switch self {
        case .kafka(let failure):
            .init(code: "kafka", detail: "the brokers do not answer: \(failure.detail)", remedy: failure.remedy)
        case .topics(let problems):
            .init(
                code: "missing-topic",
                detail: problems.map { "topic \($0.topic) (\($0.use)) \($0.sentence)" }.joined(separator: "; "),
                remedy: problems.first?.remedy ?? "")
        case .settings(let problem): .init(code: "settings", detail: problem, remedy: "")
        case .unstored: .init(code: "unstored", detail: description, remedy: "")
        }
    }
}
