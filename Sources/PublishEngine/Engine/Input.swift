public import EditorialControl
public import KafkaModel
public import NewsModel
public import NotificationHub

/// An event outside the engine. A list of inputs with their times replays an engine's whole run.
public enum Input: Sendable {
    case kafka(KafkaEvent)
    /// The ends of requests. Those that arrived together are all judged before anything new is sent.
    case replies([SettledRequest])
    /// An event read by another shard of this process recalls its story.
    case recalled(EventRecall)
    /// Editors' orders; answered with `applied`, one by one.
    case orders([OrderChange])
    /// True if the orders in force are known. If false, nothing is sent.
    case ordersKnown(Bool)
    /// The process stood still for this long, so its state may be outdated. Nothing is sent until `ordersConfirmed`,
    /// and until the broker has confirmed that the partitions are still ours.
    case stoodStill(Duration)
    /// The answer to `Action.confirmOrders`: all orders then on the control topic were handed over before.
    case ordersConfirmed(UInt64)
    /// Recalls that events gave of these stories are on the control topic, or never will be. If `awaitsOrders`, this
    /// input answers each `Action.recall`.
    case recallsSettled([String])
    /// True if a control topic keeps recalls; initially equal to `awaitsOrders`. If false, recalls last as long as the
    /// process.
    case keepsRecalls(Bool)
    /// Stories that were added to the held topic or removed from it.
    case held([HeldStory])
    /// From now on, events due later than this go to the held topic; `nil`: they wait here.
    case holdsBeyond(Duration?)
    /// An operator pauses or resumes a lane.
    case pause(LaneID)
    case resume(LaneID)
    /// An operator ends a lane's flood; ignored without a flood. The decision covers the records that were below these
    /// partition ends when it was made.
    case release(LaneID, FloodRelease, upTo: [TopicPartition: Int64])
    /// The maximum requests in flight of this shard, its part of the process's total.
    case connections(Int)
    /// New settings that are safe to change while running.
    case reload(Reload)
    /// Requests carry another key of the hub from now on.
    case keyChanged
    /// The answer to `Action.fetchSchema`.
    case schema(UInt32, WriterSchema)
    /// The schema registry does not answer, for this reason; the shell asks it again.
    case registryFailed(String)
    /// The hub's time, from a reply; `nil` if its replies do not tell it.
    case hubDate(Instant?)
    /// Time passed; extra alarms are harmless.
    case alarm
    /// Shut down: no new sends. Work in flight is finished, stored and committed.
    case drain
}

extension Input {
    /// The end of a single request.
    public static func reply(_ result: SendResult, to request: RequestID) -> Input {
        .replies([SettledRequest(id: request, result: result)])
    }
}
