/// A topic as the broker shows it.
public struct TopicState: Sendable, Hashable {
    public var partitions: Int
    public var configuration: TopicConfiguration

    public init(partitions: Int, configuration: TopicConfiguration = .unreported) {
        self.partitions = partitions
        self.configuration = configuration
    }
}

/// A broker's answer about a topic's settings, such as `cleanup.policy` and `retention.ms`.
public enum TopicConfiguration: Sendable, Hashable {
    case known([String: String])
    /// The settings could not be read, perhaps for lack of rights; with the reason.
    case unreadable(String)
    /// The broker does not support the question.
    case unreported

    public subscript(name: String) -> String? {
        if case .known(let values) = self { values[name] } else { nil }
    }

    /// The largest record that the topic accepts; `nil` if unknown.
    package var messageBytes: Int? { self["max.message.bytes"].flatMap { Int($0) } }
}
