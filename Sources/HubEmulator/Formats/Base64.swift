/// Base64 with the standard alphabet and padding, RFC 4648 §4.
package func base64(_ bytes: [UInt8]) -> String {
    let alphabet = StaticString("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    var out: [UInt8] = []
    out.reserveCapacity((bytes.count + 2) / 3 * 4)
    var index = 0
    while index < bytes.count {
        let left = min(3, bytes.count - index)
        var group = UInt32(bytes[index]) << 16
        if left > 1 { group |= UInt32(bytes[index + 1]) << 8 }
        if left > 2 { group |= UInt32(bytes[index + 2]) }
        for digit in 0..<4 {
            let value = Int(group >> UInt32(18 - digit * 6) & 63)
            out.append(digit <= left ? alphabet.utf8Start[value] : UInt8(ascii: "="))
        }
        index += 3
    }
    return String(decoding: out, as: UTF8.self)
}

/// - Returns: `nil` for anything but base64 with its padding.
func base64Decoded(_ text: String) -> [UInt8]? {
    var out: [UInt8] = []
    var group: UInt32 = 0
    var digits = 0
    var padding = 0
    for byte in text.utf8 {
        var value: UInt8 = 0
        switch byte {
        case 65...90: value = byte - 65
        case 97...122: value = byte - 71
        case 48...57: value = byte + 4
        case UInt8(ascii: "+"): value = 62
        case UInt8(ascii: "/"): value = 63
        case UInt8(ascii: "="): padding += 1
        default: return nil
        }
        guard padding == 0 || byte == UInt8(ascii: "=") else { return nil }
        group = (group & 0x3FFFF) << 6 | UInt32(value)
        digits += 1
        if digits == 4 {
            out.append(UInt8(truncatingIfNeeded: group >> 16))
            out.append(UInt8(truncatingIfNeeded: group >> 8))
            out.append(UInt8(truncatingIfNeeded: group))
            digits = 0
        }
    }
    guard digits == 0, padding <= 2, out.count >= padding else { return nil }
    out.removeLast(padding)
    return out
}
