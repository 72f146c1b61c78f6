import ByteText

extension WebAddress {
    /// True for an absolute address of which reading and writing would change nothing: almost all that feeds hold, and told
    /// in one pass over its bytes.
    ///
    /// Without user and port, with a host in lower case and ASCII, without dot segments, and with nothing to be escaped.
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
            // A segment that begins with a dot may be one of dots alone; such are rare, so no one looks closer here.
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
