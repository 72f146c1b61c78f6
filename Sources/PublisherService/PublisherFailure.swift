import ByteText
public import KafkaModel
import NewsModel

/// The reason why a publisher did not start, or had to stop.
public enum PublisherFailure: Error, Sendable, CustomStringConvertible {
    case kafka(KafkaFailure)
    /// Topics whose absence or settings would break a guarantee.
    case topics([TopicRules.Finding])
    case settings(String)
    /// The shutdown deadline passed while this many results and dead letters were not acknowledged. Nothing that
    /// depends on them was committed, so the next process repeats the work.
    case unstored(Int)
    /// A run that was to end once it had caught up was stopped earlier.
    case notCaughtUp
    /// The run has caught up, but at most this many records were removed from the topics before they were read.
    case removedUnread(UInt64)

    public var description: String {
        switch self {
        case .kafka(let failure): failure.description
        case .topics(let problems): problems.map(\.description).joined(separator: "\n")
        case .settings(let problem): problem
        case .unstored(let count):
            "the broker did not acknowledge \(counted(count, "result or dead letter", plural: "results or dead letters")) "
                + "in time; nothing that depends on them is committed, and the next start repeats it. Look at the "
                + "brokers, the results topic and the dead-letter topic"
        case .notCaughtUp: "stopped before it had caught up"
        case .removedUnread(let count):
            "up to \(counted(Int(clamping: count), "record")) \(count == 1 ? "was" : "were") removed from the topics before the run "
                + "could read them; \(RemovedUnread.remedy)"
        }
    }

    /// True if the settings are wrong, so that neither time nor a restart helps.
    public var isConfiguration: Bool {
        switch self {
        case .kafka(let failure): failure.isConfiguration
        case .settings: true
        case .topics, .unstored, .notCaughtUp, .removedUnread: false
        }
    }

    /// True if time or an operator may remove the cause while the process waits.
    var mayPass: Bool {
        switch self {
        case .kafka(let failure): !failure.isFatal && !isConfiguration
        case .topics(let problems): problems.allSatisfy { $0.problem == .missing }
        case .settings, .unstored, .notCaughtUp, .removedUnread: false
        }
    }

    /// The reason for not being ready while the failure lasts.
    var notReady: ReadinessReason {
        switch self {
        case .kafka(let failure) where failure.isAboutToken: .init(kafkaToken: failure)
        case .kafka(let failure):
            .init(.kafka, "the brokers do not answer: \(failure.detail)", remedy: failure.remedy)
        case .topics(let problems):
            .init(
                .missingTopic,
                problems.map { "topic \($0.topic) (\($0.use)) \($0.sentence)" }.joined(separator: "; "),
                remedy: problems.first?.remedy ?? "")
        case .settings(let problem): .init(.settings, problem, remedy: "")
        case .unstored: .init(.unstored, description, remedy: "")
        case .notCaughtUp: .init(.shuttingDown, description, remedy: "")
        case .removedUnread: .init(.unreadRemoved, description, remedy: "")
        }
    }
}
