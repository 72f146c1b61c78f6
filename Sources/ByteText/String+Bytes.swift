extension String {
    /// Lends the text's UTF-8. Unlike `withUTF8` it needs no variable, which would be one more reference to count.
    @inlinable
    public func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        if let result = utf8.withContiguousStorageIfAvailable(body) { return result }
        var text = self
        return text.withUTF8(body)
    }

    /// As many whole Unicode characters from the start as fit in `count` bytes of UTF-8.
    public func cut(toBytes count: Int) -> String {
        guard utf8.count > count else { return self }
        return withBytes { bytes in
            var end = Swift.max(count, 0)
            while end > 0, bytes[end] & 0xC0 == 0x80 { end -= 1 }
            return String(decoding: bytes[..<end], as: UTF8.self)
        }
    }
}
