public import KafkaModel
public import NewsModel

/// The position of a held event's original on its source partition, and a part of its identity. The identity tells it from a
/// record that has the same offset after the source topic was recreated.
public struct HeldOriginal: Sendable, Hashable {
    public let offset: Int64
    private let identity: UInt16

    /// - Returns: `nil` for an offset that Kafka does not reach, or without an identity.
    public init?(offset: Int64, identity: RecordIdentity?) {
        guard let identity, (0..<1 << 47).contains(offset) else { return nil }
        self.offset = offset
        self.identity = UInt16(truncatingIfNeeded: identity.hash)
    }

    /// - Returns: `nil` if the event could not be recognized.
    public init?(of event: HeldEvent) { self.init(offset: event.source.offset, identity: event.identity) }

    /// Unpacks eight bytes. All bits are set if there is no original.
    init?(packed: UInt64) {
        guard packed != .max else { return nil }
        offset = Int64(packed >> 16)
        identity = UInt16(truncatingIfNeeded: packed)
    }

    var packed: UInt64 { UInt64(offset) << 16 | UInt64(identity) }

    /// Returns `true` if the record is the original.
    public func isThe(_ record: SourceRecord) -> Bool {
        record.offset == offset && UInt16(truncatingIfNeeded: RecordIdentity(of: record).hash) == identity
    }
}

extension HeldOriginal? {
    /// Returns false if both are known and differ.
    func mayBe(_ other: HeldOriginal?) -> Bool { self == nil || other == nil || self == other }
}
