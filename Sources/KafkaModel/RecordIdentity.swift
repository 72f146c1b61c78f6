public import NewsModel

/// What a record is, whatever its coordinates: a hash of its event id, or of its bytes when it has none. 64 bits: two
/// records at the same coordinates are taken for one another once in 10¹⁹ times.
public struct RecordIdentity: Sendable, Hashable, CustomStringConvertible {
    public let hash: UInt64

    public init(eventID: String) {
        var fingerprint = Fingerprint()
        fingerprint.mix(eventID)
        hash = fingerprint.value
    }

    /// Of a record without an id: key and value.
    public init(bytesOf record: SourceRecord) {
        var fingerprint = Fingerprint()
        for bytes in [record.key, record.value] {
            fingerprint.mix(bytes == nil ? 0 : 1)
            fingerprint.mix(bytes ?? [])
        }
        hash = fingerprint.value
    }

    /// 16 hexadecimal digits.
    public var description: String {
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    public init?(headerValue text: String) {
        guard text.utf8.count == 16, let hash = UInt64(text, radix: 16) else { return nil }
        self.hash = hash
    }
}
