public import NewsModel
public import NotificationHub

/// What happened. A list of inputs with their times replays an engine's whole life.
public enum Input: Sendable {
    /// Partitions are ours from now on, in the given generation of the lane.
    case assigned(lane: Int, generation: Int, partitions: [TopicPartition])
    /// Results read back after an assignment; `end` comes with the last of a partition.
    case restored(lane: Int, generation: Int, results: TopicPartition, entries: [RestoredResult], end: Int64?)
    case records(lane: Int, generation: Int, partition: TopicPartition, records: [SourceRecord])
    /// Nothing is left to read below `offset` (transaction markers and compacted records leave gaps).
    case endReached(lane: Int, generation: Int, partition: TopicPartition, offset: Int64)
    /// Partitions are to be given up. When `lost`, they already belong to somebody else.
    case revoked(lane: Int, generation: Int, partitions: [TopicPartition], lost: Bool)
    /// The hub's answers, or what came instead. All that arrived at once are judged before anything new is sent.
    case replies([Landing])
    /// Acknowledgements of the results and dead-letter topics.
    case stored([Acknowledgement])
    case committed(lane: Int, succeeded: Bool)
    /// How many partitions the lane's topics have in all, for our share of the rate.
    case partitionCount(lane: Int, Int)
    /// An operator stops or continues a lane.
    case pause(lane: Int, Bool)
    /// New settings that are safe to change while running.
    case reload(Reload)
    /// Time passed; extra alarms are harmless.
    case alarm
    /// Shut down: no new sends, everything under way is finished, stored and committed.
    case drain
}

/// One result read back from the results topic: which delivery is already settled.
public struct RestoredResult: Sendable, Hashable {
    public var source: ResultRecord.Source
    public var platform: Platform
    public var outcome: Outcome
    public var eventID: String
    public var version: String?
    /// Where the result stands in the results partition.
    public var offset: Int64

    public init(
        source: ResultRecord.Source, platform: Platform, outcome: Outcome, eventID: String, version: String?,
        offset: Int64
    ) {
        self.source = source
        self.platform = platform
        self.outcome = outcome
        self.eventID = eventID
        self.version = version
        self.offset = offset
    }
}

extension Input {
    /// One answer.
    public static func reply(token: UInt64, _ reply: Reply) -> Input {
        .replies([Landing(token: token, reply: reply)])
    }
}

/// How one request that was sent came back.
public struct Landing: Sendable, Hashable {
    public var token: UInt64
    public var reply: Reply

    public init(token: UInt64, reply: Reply) {
        self.token = token
        self.reply = reply
    }
}

/// What became of one record that was to be stored.
public struct Acknowledgement: Sendable, Hashable {
    public var token: UInt64
    /// Where it stands; `nil` when the topic will never take it.
    public var offset: Int64?

    public init(token: UInt64, offset: Int64?) {
        self.token = token
        self.offset = offset
    }
}

/// How a request ended.
public enum Reply: Sendable, Hashable {
    case replied(HubReply)
    /// The request certainly never reached the hub.
    case notSent(Obstacle, detail: String)
    /// The request left us; whether the hub took it nobody can tell.
    case unanswered(detail: String)

    public enum Obstacle: Sendable, Hashable {
        /// Refused, no route, no such host, no answer to a connect.
        case unreachable
        /// The hub closed an idle connection before a byte was written.
        case connectionLost
        /// TLS was refused: an expired, foreign or wrong certificate.
        case certificate
        /// The request itself cannot be written, e.g. a header that is no header.
        case invalid
    }
}
