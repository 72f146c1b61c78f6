/// Base64 with the standard alphabet and padding. RFC 4648 §4.
public enum Base64 {
    private static let alphabet: StaticString = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

    @inlinable
    public static func encode(_ bytes: some Sequence<UInt8>) -> String { encode(Array(bytes)) }

    public static func encode(_ bytes: [UInt8]) -> String {
        String(unsafeUninitializedCapacity: (bytes.count + 2) / 3 * 4) { text in
            var length = 0
            var rest = bytes.makeIterator()
            while let first = rest.next() {
                let (second, third) = (rest.next(), rest.next())
                let group = UInt32(first) << 16 | UInt32(second ?? 0) << 8 | UInt32(third ?? 0)
                text[length] = digit(group >> 18)
                text[length + 1] = digit(group >> 12)
                text[length + 2] = second == nil ? UInt8(ascii: "=") : digit(group >> 6)
                text[length + 3] = third == nil ? UInt8(ascii: "=") : digit(group)
                length += 4
            }
            return length
        }
    }

    /// - Returns: `nil` unless every character belongs to the alphabet and the padding is right.
    public static func decode(_ text: String) -> [UInt8]? { text.withBytes(decode) }

    public static func decode(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        guard text.count.isMultiple(of: 4) else { return nil }
        var padding = 0
        while padding < 2, padding < text.count, text[text.count - 1 - padding] == UInt8(ascii: "=") { padding += 1 }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 4 * 3)
        var group: UInt32 = 0
        for (index, character) in text.dropLast(padding).enumerated() {
            guard let value = value(of: character) else { return nil }
            group = group << 6 | UInt32(value)
            guard index % 4 == 3 else { continue }
            bytes.append(UInt8(truncatingIfNeeded: group >> 16))
            bytes.append(UInt8(truncatingIfNeeded: group >> 8))
            bytes.append(UInt8(truncatingIfNeeded: group))
        }
        if padding == 2 { bytes.append(UInt8(truncatingIfNeeded: group >> 4)) }
        if padding == 1 {
            bytes.append(UInt8(truncatingIfNeeded: group >> 10))
            bytes.append(UInt8(truncatingIfNeeded: group >> 2))
        }
        return bytes
    }

    private static func digit(_ value: UInt32) -> UInt8 { alphabet.utf8Start[Int(value & 0x3F)] }

    private static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): digit - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): digit - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
