import KafkaModel
import PublishEngine

extension Settings {
    /// What must hold of the topics.
    var topicRules: TopicRules {
        TopicRules(
            lanes: lanes.map { .init(name: $0.name, topics: $0.topics, maxAge: $0.maxAge) }, resultsTopic: resultsTopic,
            deadLetterTopic: deadLettersTopic)
    }
}

extension TopicRules.Finding {
    /// Whether `check` and `topics` fail for it: what is missing or waits is a thing to do, a warning is one to know.
    var isFailure: Bool { severity != .warning || problem == .missing }
}
