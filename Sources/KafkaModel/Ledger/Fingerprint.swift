import ByteText

/// A 64-bit hash of texts (multiply and fold). One of 4,096 others collides with a news item once in 10¹⁵ times. Not
/// `Hasher`, whose seed differs per process: results store the hash of a record without an id.
public struct Fingerprint: Sendable, Hashable {
    public private(set) var value: UInt64 = 0x9E37_79B9_7F4A_7C15

    public init() {}

    public mutating func mix(_ byte: UInt8) { step(UInt64(byte) | 0x100) }

    public mutating func mix(_ word: UInt64) {
        step(word)
        step(1)
    }

    /// Mixes the text and its length, so that ("ab", "c") differs from ("a", "bc").
    public mutating func mix(_ text: String) { text.withBytes { mix($0) } }

    public mutating func mix(_ bytes: [UInt8]) { bytes.withUnsafeBufferPointer { mix($0) } }

    mutating func mix(_ bytes: UnsafeBufferPointer<UInt8>) {
        var index = 0
        while index + 8 <= bytes.count, let start = bytes.baseAddress {
            step(UnsafeRawPointer(start).loadUnaligned(fromByteOffset: index, as: UInt64.self))
            index += 8
        }
        var tail: UInt64 = 0
        while index < bytes.count {
            tail = tail << 8 | UInt64(bytes[index])
            index += 1
        }
        step(tail)
        step(UInt64(bytes.count) << 1 | 1)
    }

    private mutating func step(_ word: UInt64) {
        let product = (value ^ word).multipliedFullWidth(by: 0xA076_1D64_78BD_642F)
        value = product.high ^ product.low &+ 0x9E37_79B9
    }
}
