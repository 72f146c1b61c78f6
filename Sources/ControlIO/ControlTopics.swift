/// The topics of editors' orders, of the audit lines about them, and of held events.
public struct ControlTopics: Sendable, Hashable {
    /// Compacted, with one partition.
    public var control: String
    public var audit: String
    /// Compacted, with as many partitions as the results topic.
    public var held: String

    public init(control: String = "news.control", audit: String = "news.audit", held: String = "news.held") {
        self.control = control
        self.audit = audit
        self.held = held
    }
}
