public import EditorialControl
public import KafkaModel
public import NewsModel
public import NotificationHub

/// An event in the world outside an engine. A list of inputs with their times replays an engine's whole life.
public enum Input: Sendable {
    case kafka(KafkaEvent)
    /// The ends of requests. Those that arrived at once are all judged before anything new is sent.
    case replies([Arrival])
    /// An event that another shard of this process has read recalls its story.
    case recalled(EventRecall)
    /// Editors' orders; answered with `applied`, one by one.
    case orders([OrderChange])
    /// Whether the orders in force are known. If not, nothing is sent.
    case ordersKnown(Bool)
    /// The process stood still for so long: what it knows may be old. Nothing is sent until `ordersConfirmed`, and until the broker
    /// has confirmed that the partitions are still ours.
    case stoodStill(Duration)
    /// The answer to `Action.confirmOrders`: every order that stood on the control topic at the time was handed over before.
    case ordersConfirmed(UInt64)
    /// Recalls that events have given of these stories stand on the control topic, or never will. Each `Action.recall` is answered
    /// so, if `awaitsOrders`.
    case recallsSettled([String])
    /// Whether recalls are kept on a control topic, as they are to begin with if `awaitsOrders`; if not, they last as long as the
    /// process.
    case keepsRecalls(Bool)
    /// Stories on the held topic that were not there before, or are no longer.
    case held([HeldStory])
    /// What is due later than in so long a time goes to the held topic from now on; `nil`: there is none, it waits here.
    case holdsBeyond(Duration?)
    /// An operator stops or continues a lane.
    case pause(LaneID)
    case resume(LaneID)
    /// An operator ends a lane's flood; nothing if there is none. The decision holds for what stood below these ends of the
    /// lane's partitions when it was made.
    case release(LaneID, FloodRelease, upTo: [TopicPartition: Int64])
    /// The requests that may be in flight here at most, of those of all the process's shards.
    case connections(Int)
    /// New settings that are safe to change while running.
    case reload(Reload)
    /// A reply of the hub says that it is this time there now.
    case hubDate(Instant)
    /// Time passed; extra alarms are harmless.
    case alarm
    /// Shut down: no new sends, everything under way is finished, stored and committed.
    case drain
}

extension Input {
    /// One answer.
    public static func reply(_ reply: Reply, to request: RequestID) -> Input {
        .replies([Arrival(request: request, reply: reply)])
    }
}

/// The end of one request.
public struct Arrival: Sendable, Hashable {
    public var request: RequestID
    public var reply: Reply

    public init(request: RequestID, reply: Reply) {
        self.request = request
        self.reply = reply
    }
}

/// The reply to a request, or the reason why there is none.
public enum Reply: Sendable, Hashable {
    case replied(HubReply)
    /// The request certainly never reached the hub.
    case notSent(Obstacle, detail: String)
    /// The request left us; it is unknown if the hub accepted it.
    case unanswered(detail: String)

    public enum Obstacle: Sendable, Hashable {
        /// Refused, no route, no such host, no answer to a connect.
        case unreachable
        /// The connection ended before a byte of the request was written: an idle one that the hub closed, or one cut in the
        /// TLS handshake.
        case connectionLost
        /// TLS was refused: an expired, foreign or wrong certificate.
        case certificate
        /// The request itself cannot be written, e.g. a header that is no header.
        case invalid
    }
}

/// The headers of a redriven record, one that a person put back on its lane.
public enum RedriveHeader {
    /// The one platform it is for: the others were settled the first time.
    public static let platform = "nw-platform"
}
