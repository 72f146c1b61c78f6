import ByteText

extension WebAddress {
    /// Returns true for an absolute address that parsing and writing would not change. Nearly all addresses in feeds
    /// are such, and one pass over the bytes decides it.
    ///
    /// It has no user or port, a host in lower-case ASCII, no dot segments, and nothing to escape.
    static func isNormal(_ text: some StringProtocol) -> Bool {
        text.utf8.withContiguousStorageIfAvailable { isNormal($0) } ?? false
    }

    private static func isNormal(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        let end = bytes.count
        let start = bytes.holds("https://", at: 0, end) ? 8 : bytes.holds("http://", at: 0, end) ? 7 : end
        var at = start
        while at < end, isOfHost(bytes[at]) { at += 1 }
        guard at > start, at - start <= Authority.hostMax, end <= textMax else { return false }
        guard at < end else { return true }
        guard bytes[at] == UInt8(ascii: "/") || bytes[at] == UInt8(ascii: "?") else { return false }
        while at < end {
            let byte = bytes[at]
            guard Reference.isAllowed(byte) else { return false }
            switch byte {
            case UInt8(ascii: "%"):
                guard at + 2 < end, bytes[at + 1].hexDigitValue != nil, bytes[at + 2].hexDigitValue != nil else {
                    return false
                }
            // A segment that begins with a dot may be a dot segment. Such addresses are rare and count as not normal.
            case UInt8(ascii: "/"): if at + 1 < end, bytes[at + 1] == UInt8(ascii: ".") { return false }
            default: break
            }
            at += 1
        }
        return true
    }

    private static func isOfHost(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
            UInt8(ascii: "."):
            true
        default: false
        }
    }
}
