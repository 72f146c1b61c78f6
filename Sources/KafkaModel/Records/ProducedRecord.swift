public import NewsModel

public struct ProducedRecord: Sendable, Hashable {
    public var topic: String
    /// The partition; `nil` for the key's hash, or any partition without a key.
    public var partition: Int32?
    public var key: [UInt8]?
    /// `nil` is a tombstone.
    public var value: [UInt8]?
    public var headers: [RecordHeader]
    /// The timestamp; `nil` for now.
    public var timestamp: Instant?

    @inlinable
    public init(
        topic: String, partition: Int32? = nil, key: [UInt8]? = nil, value: [UInt8]?, headers: [RecordHeader] = [],
        timestamp: Instant? = nil
    ) {
        self.topic = topic
        self.partition = partition
        self.key = key
        self.value = value
        self.headers = headers
        self.timestamp = timestamp
    }
}

/// The broker's acknowledgement of one record: it is on every in-sync replica.
public struct StoredRecord: Sendable, Hashable {
    public var delivery: DeliveryID
    public var kind: Kind
    /// Its offset in its partition.
    public var offset: Int64
    /// True if it was sent apart from batches, after it had been refused. Its acknowledgement may come behind those of later
    /// offsets, or ahead of those of earlier ones.
    public var isAlone: Bool

    public enum Kind: UInt8, Sendable, Hashable {
        case result = 0
        case deadLetter = 1
        /// The original, on the held topic.
        case held = 2
    }

    public init(delivery: DeliveryID, kind: Kind, offset: Int64, isAlone: Bool = false) {
        self.delivery = delivery
        self.kind = kind
        self.offset = offset
        self.isAlone = isAlone
    }
}
