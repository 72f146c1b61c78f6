package import ByteText
public import NewsModel

/// The identity of a record apart from its coordinates: a hash of its time, key and value. Coordinates repeat when a
/// topic is recreated, and so may event ids at them. Two records at the same coordinates collide once in 10¹⁹ times.
public struct RecordIdentity: Sendable, Hashable {
    public let hash: UInt64

    public init(hash: UInt64) { self.hash = hash }

    public init(of record: SourceRecord) {
        var fingerprint = Fingerprint()
        fingerprint.mix(UInt64(bitPattern: record.timestamp?.nanoseconds ?? .min))
        // Absent bytes differ from empty ones.
        fingerprint.mix(UInt64(record.hasKey ? 1 : 0))
        record.withKey { fingerprint.mix($0) }
        fingerprint.mix(UInt64(record.hasValue ? 1 : 0))
        record.withValue { fingerprint.mix($0) }
        hash = fingerprint.value
    }

    /// The identity in results of former versions: the event id alone.
    public init(eventID: String) {
        var fingerprint = Fingerprint()
        fingerprint.mix(eventID)
        hash = fingerprint.value
    }

    /// The identity as 16 hexadecimal digits in ASCII.
    public var headerValue: [UInt8] {
        var bytes = GrowingBytes(capacity: 16)
        write(to: &bytes)
        return Array(bytes.bytes)
    }

    /// Appends the bytes of `headerValue`.
    package func write(to bytes: inout GrowingBytes) { bytes.append(room: 16, hash.writeHexDigits) }

    /// - Returns: `nil` unless the bytes are what `headerValue` gives.
    public init?(headerValue bytes: [UInt8]) {
        guard bytes.count == 16, let hash = UInt64(String(decoding: bytes, as: UTF8.self), radix: 16) else {
            return nil
        }
        self.hash = hash
    }
}
