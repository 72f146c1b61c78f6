/// The broker's acknowledgement of one record: it is on every in-sync replica.
public struct StoredRecord: Sendable, Hashable {
    public var delivery: DeliveryID
    public var kind: Kind
    /// Its offset in its partition.
    public var offset: Int64

    public enum Kind: UInt8, Sendable, Hashable {
        case result = 0
        case deadLetter = 1
        /// The original, on the held topic.
        case held = 2
    }

    public init(delivery: DeliveryID, kind: Kind, offset: Int64) {
        self.delivery = delivery
        self.kind = kind
        self.offset = offset
    }
}
