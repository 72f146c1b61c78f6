public import NewsModel
public import NotificationHub

/// What the shell is to do. Actions of one input are carried out in order.
public enum Action: Sendable {
    /// Put the request on an idle connection; answer with `Input.replies` and the same token.
    case send(token: UInt64, SendRequest)
    /// Mint a new access token for the requests that follow.
    case renewToken
    /// Write a result, and the original beside it when it is a dead letter; answer with `stored` for each.
    case store(StoreRequest)
    /// Commit these offsets in one request; answer with `committed`.
    case commit(lane: Int, generation: Int, offsets: [CommitOffset])
    /// Read the results partition back from where this lane's ledger begins.
    case restore(lane: Int, generation: Int, results: TopicPartition)
    /// Allow this much more to be read for a lane.
    case grant(lane: Int, records: Int, bytes: Int)
    case hold(TopicPartition, lane: Int, generation: Int)
    case resume(TopicPartition, lane: Int, generation: Int)
    /// Everything of this generation is settled as far as it can be: give the partitions up.
    case release(lane: Int, generation: Int)
    /// The drain is done (or its deadline has passed).
    case finish
}

/// A result to be written. An object, as it is large and handed on as it is.
public final class StoreRequest: Sendable {
    public let token: UInt64
    public let result: ResultRecord
    /// The event's version, carried in a header so that the ledger recognises duplicates.
    public let version: String?
    /// Headers of the source record that the result carries on.
    public let carried: [RecordHeader]
    /// The source record and the token for its acknowledgement, when it goes to the dead-letter topic.
    public let deadLetter: DeadLetter?

    package init(
        token: UInt64, result: ResultRecord, version: String?, carried: [RecordHeader], deadLetter: DeadLetter?
    ) {
        self.token = token
        self.result = result
        self.version = version
        self.carried = carried
        self.deadLetter = deadLetter
    }

    /// Whether an acknowledgement is about a dead letter; else it is about a result.
    public static func isDeadLetter(token: UInt64) -> Bool { DeliveryID.isDeadLetter(token: token) }

    public struct DeadLetter: Sendable {
        public var token: UInt64
        public var record: SourceRecord
    }
}

public struct CommitOffset: Sendable, Hashable {
    public var partition: TopicPartition
    public var offset: Int64

    public init(partition: TopicPartition, offset: Int64) {
        self.partition = partition
        self.offset = offset
    }
}
