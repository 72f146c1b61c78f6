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
