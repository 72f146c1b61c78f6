public import NewsModel

/// How a process that follows feeds is doing.
public struct IngestReport: Sendable, Hashable {
    public var at: Instant
    public var startedAt: Instant
    /// The feeds that the group has given to this process, in any order.
    public var feeds: [FeedStatus]
    /// Why feeds cannot be followed; empty when they can, also when none of them is this process's.
    public var notReady: [ReadinessReason]

    public init(at: Instant, startedAt: Instant, feeds: [FeedStatus], notReady: [ReadinessReason]) {
        self.at = at
        self.startedAt = startedAt
        self.feeds = feeds
        self.notReady = notReady
    }
}

extension IngestReport {
    /// All of it, the newest problem first.
    /// - Parameters:
    ///   - version: the program's.
    ///   - limit: the most feeds to write; all are counted.
    public func json(version: String, limit: Int = .max) -> [UInt8] {
        JSONWriter.object(reserving: 512 * (min(feeds.count, limit) + 1)) { json in
            json.field("at", at)
            json.field("startedAt", startedAt)
            json.field("version", version)
            notReady.writeReadiness(into: &json)
            json.field("feedCount", feeds.count)
            json.field("problemCount", feeds.count { $0.isProblem })
            json.array("feeds") { json in
                for status in FeedStatus.sorted(feeds).prefix(limit) { json.raw(status.json) }
            }
        }
    }
}
