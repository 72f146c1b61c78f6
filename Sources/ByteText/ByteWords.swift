/// Tests the bytes of a text eight at a time. Most texts are short and have no special bytes, so a loop over single
/// bytes would cost more than their further handling.
public enum ByteWords {
    /// True if `test` finds a byte in one of the text's words. A byte may be tested twice. A text shorter than eight
    /// bytes is padded with spaces.
    @inlinable @inline(__always)
    public static func any(in text: UnsafeBufferPointer<UInt8>, _ test: (UInt64) -> UInt64) -> Bool {
        let bytes = UnsafeRawBufferPointer(text)
        guard bytes.count >= 8 else {
            var word: UInt64 = 0x2020_2020_2020_2020
            for byte in bytes { word = word << 8 | UInt64(byte) }
            return test(word) != 0
        }
        // The last word ends with the text.
        let last = bytes.count - 8
        var found = test(bytes.loadUnaligned(fromByteOffset: last, as: UInt64.self))
        var offset = 0
        // The loop has no branch on the result, so that the compiler can vectorise it.
        while offset < last {
            found |= test(bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            offset += 8
        }
        return found != 0
    }
}

/// A word as eight bytes. These tests show if any byte passes, not which one.
/// Sean Eron Anderson, "Bit Twiddling Hacks".
extension UInt64 {
    /// Not zero when a byte is below `bound`.
    /// - Parameter bound: at most 0x80.
    @inlinable @inline(__always)
    public func hasByte(below bound: UInt8) -> UInt64 {
        (self &- Self.inEachByte(bound)) & ~self & Self.inEachByte(0x80)
    }

    /// Not zero when a byte equals `byte`.
    @inlinable @inline(__always)
    public func hasByte(_ byte: UInt8) -> UInt64 {
        (self ^ Self.inEachByte(byte)).hasByte(below: 1)
    }

    /// Not zero when a byte is 0x80 or above.
    @inlinable @inline(__always)
    public var hasByteAboveASCII: UInt64 { self & Self.inEachByte(0x80) }

    @inlinable @inline(__always)
    public static func inEachByte(_ byte: UInt8) -> UInt64 { 0x0101_0101_0101_0101 &* UInt64(byte) }
}
