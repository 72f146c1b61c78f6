/// Watches the partition counts of our topics: decides which counts matter, and when to poll again.
public struct TopicWatch: Sendable {
    public let lanes: [[String]]
    public let results: String
    public let deadLetters: String

    public static let interval = Duration.seconds(5)
    /// The interval while a topic is missing, because it is probably being created.
    public static let shortInterval = Duration.seconds(1)

    public init(lanes: [[String]], results: String, deadLetters: String) {
        self.lanes = lanes
        self.results = results
        self.deadLetters = deadLetters
    }

    /// The counts of our topics among all topics of the cluster.
    public func ours(_ counts: [String: Int]) -> [String: Int] {
        let names = Set(lanes.joined() + [results, deadLetters])
        return counts.filter { names.contains($0.key) }
    }

    /// True if a topic is missing, or the results topic has fewer partitions than a lane's.
    public func isWanting(_ counts: [String: Int]) -> Bool {
        guard let most = counts[results], counts[deadLetters] != nil else { return true }
        return lanes.joined().contains { topic in counts[topic].map { $0 > most } ?? true }
    }

    /// - Parameter counts: the last counts; `nil` if they could not be read.
    /// - Returns: the delay before the next poll.
    public func pause(after counts: [String: Int]?) -> Duration {
        counts.map(isWanting) ?? true ? Self.shortInterval : Self.interval
    }
}
