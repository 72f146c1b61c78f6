public import EditorialControl
public import KafkaModel
public import NewsModel
public import NotificationHub

/// A step for the shell to take. Actions of one input are carried out in order.
public enum Action: Sendable {
    /// Put the request on an idle connection; answer with `Input.replies` and the same id.
    case send(RequestID, SendRequest)
    /// Mint a new access token for the requests that follow.
    case renewToken
    /// Write a result to the results topic; answer with `stored`.
    case store(StoreRequest)
    /// Write the original to the dead-letter topic; answer with `stored`. Its result follows once this is acknowledged.
    case storeDeadLetter(StoreRequest, SourceRecord)
    case kafka(KafkaCommand)
    /// The wall clock was set by this much since the last input; the shell logs it.
    case clockStepped(by: Duration)
    /// Refresh the orders in force and hand them over, then answer with `ordersConfirmed` and this number.
    case confirmOrders(UInt64)
    /// Ask the hub for the time, by a request that sends nothing; answer with `hubDate`, or not at all.
    case askHubForTime
    /// Get a schema from the registry, however long that takes; answer with `schema`. It may be requested more than once.
    case fetchSchema(UInt32)
    /// Write the original to the held topic; answer with `stored`. Its result follows once this is acknowledged.
    case hold(StoreRequest, SourceRecord, HeldEvent)
    /// Request these held events of the story back from the held topic.
    case returnHeld(story: String, because: ReturnReason, HeldPart)
    /// Recall the story, by its order key, on the process's other shards, and everywhere by an order on the control topic.
    case recall(EventRecall)
    /// The effect that an order had on this shard.
    case applied(AppliedOrder)
    /// The drain is done, or its deadline has passed; after the deadline some records may still have no result.
    case finish(Leftovers)
}

/// Work that a drain could not finish in time. None of it is committed, so the next owner repeats it.
public struct Leftovers: Sendable, Hashable {
    /// Requests without an answer.
    public var unanswered = 0
    /// Deliveries whose result or dead letter the broker has not acknowledged.
    public var unstored = 0

    public init(unanswered: Int = 0, unstored: Int = 0) {
        self.unanswered = unanswered
        self.unstored = unstored
    }
}

/// A result to be written. An object, because it is large and passed on unchanged.
public final class StoreRequest: Sendable {
    public let delivery: DeliveryID
    public let result: ResultRecord
    /// The event's version, carried in a header so that the ledger recognises duplicates.
    public let version: String?
    /// The record's identity, so that the ledger recognises it.
    public let identity: RecordIdentity
    /// Headers of the source record that the result carries on, within `HeaderName.carriedBytesMax`.
    public let carried: [RecordHeader]

    /// The story, carried in a header if older events of it must not follow; otherwise `nil`.
    public let ledgerStory: String?

    package init(
        delivery: DeliveryID, result: consuming ResultRecord, version: String?, story: String? = nil,
        identity: RecordIdentity, carried: [RecordHeader]
    ) {
        self.delivery = delivery
        self.result = result
        self.version = version
        ledgerStory = story
        self.identity = identity
        self.carried = carried
    }

    func withoutStory() -> StoreRequest {
        StoreRequest(delivery: delivery, result: result, version: version, identity: identity, carried: carried)
    }
}
