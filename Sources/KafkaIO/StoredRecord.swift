/// The end of one `produce`.
public struct StoredRecord: Sendable, Hashable {
    public var token: UInt64
    public var partition: Int32
    /// Where it stands, once on every in-sync replica; meaningless when it failed.
    public var offset: Int64
    /// Set when the broker never acknowledged it. The record may still have been stored when the failure is a timeout.
    public var failure: KafkaFailure?

    public init(token: UInt64, partition: Int32, offset: Int64, failure: KafkaFailure? = nil) {
        self.token = token
        self.partition = partition
        self.offset = offset
        self.failure = failure
    }
}
