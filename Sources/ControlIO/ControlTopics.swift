/// Where editors' orders stand, who has applied them, and what waits for its time.
public struct ControlTopics: Sendable, Hashable {
    /// One partition, compacted.
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
