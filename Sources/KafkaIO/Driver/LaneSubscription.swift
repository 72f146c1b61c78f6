/// The topics one lane reads, as one consumer group.
public struct LaneSubscription: Sendable {
    public var name: String
    public var topics: [String]
    /// Partitions of all its topics together: the lane's fetch budget is divided by it.
    public var partitionCount: Int

    public init(name: String, topics: [String], partitionCount: Int = 12) {
        self.name = name
        self.topics = topics
        self.partitionCount = partitionCount
    }
}
