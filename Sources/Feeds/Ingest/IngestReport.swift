public import NewsModel

/// The condition of a process that follows feeds.
public struct IngestReport: Sendable, Hashable {
    public var at: Instant
    public var startedAt: Instant
    /// The feeds that are assigned to this process, in any order.
    public var feeds: [FeedStatus]
    /// Reasons why feeds cannot be followed. Empty if they can, even if this process has no feed.
    public var notReady: [ReadinessReason]

    public init(at: Instant, startedAt: Instant, feeds: [FeedStatus], notReady: [ReadinessReason]) {
        self.at = at
        self.startedAt = startedAt
        self.feeds = feeds
        self.notReady = notReady
    }
}

extension IngestReport {
    /// The whole report as JSON, with the newest problem first.
    /// - Parameters:
    ///   - version: the program's version.
    ///   - limit: maximum number of feeds that are written. The counts include all feeds.
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
