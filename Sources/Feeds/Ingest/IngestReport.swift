public import NewsModel

/// How a process that follows feeds is doing.
public struct IngestReport: Sendable, Hashable {
    public var at: Instant
    public var startedAt: Instant
    /// The feeds that the group has given to this process, in any order.
    public var feeds: [FeedStatus]
    /// Why feeds cannot be followed; empty when they can, also when none of them is this process's.
    public var notReady: [Reason]

    public struct Reason: Sendable, Hashable {
        /// A stable code.
        public var code: String
        /// One sentence.
        public var detail: String
        public var remedy: String

        public init(code: String, detail: String, remedy: String) {
            self.code = code
            self.detail = detail
            self.remedy = remedy
        }
    }

    public init(at: Instant, startedAt: Instant, feeds: [FeedStatus], notReady: [Reason]) {
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
            json.field("ready", notReady.isEmpty)
            writeReasons(into: &json)
            json.field("feedCount", feeds.count)
            json.field("problemCount", feeds.count { $0.isProblem })
            json.array("feeds") { json in
                for status in FeedStatus.sorted(feeds).prefix(limit) { json.raw(status.json) }
            }
        }
    }

    /// What `/readyz` answers.
    public var readiness: [UInt8] {
        JSONWriter.object { json in
            json.field("ready", notReady.isEmpty)
            writeReasons(into: &json)
        }
    }

    private func writeReasons(into json: inout JSONWriter) {
        json.array("reasons") { json in
            for reason in notReady {
                json.object { json in
                    json.field("code", reason.code)
                    json.field("detail", reason.detail)
                    json.field("remedy", reason.remedy)
                }
            }
        }
    }
}
