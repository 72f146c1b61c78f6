/// Every byte but letters, digits and `-._~` as `%XX` with upper-case digits. RFC 3986 §2.3.
func percentEncoded(_ text: some StringProtocol) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var encoded: [UInt8] = []
    encoded.reserveCapacity(text.utf8.count * 3 / 2)
    for byte in text.utf8 {
        if byte.isASCIILetter || byte.isASCIIDigit || "-._~".utf8.contains(byte) {
            encoded.append(byte)
        } else {
            encoded.append(UInt8(ascii: "%"))
            encoded.append(digits[Int(byte >> 4)])
            encoded.append(digits[Int(byte & 0xF)])
        }
    }
    return String(decoding: encoded, as: UTF8.self)
}

/// Leaves `+` alone: in a token it is a letter of base64, not a space.
/// - Returns: `nil` for an escape without two digits, and for bytes that are no UTF-8.
func percentDecoded(_ text: some StringProtocol) -> String? {
    var decoded: [UInt8] = []
    decoded.reserveCapacity(text.utf8.count)
    var bytes = text.utf8.makeIterator()
    while let byte = bytes.next() {
        guard byte == UInt8(ascii: "%") else {
            decoded.append(byte)
            continue
        }
        guard let high = bytes.next()?.hexDigitValue, let low = bytes.next()?.hexDigitValue else { return nil }
        decoded.append(high << 4 | low)
    }
    return String(validating: decoded, as: UTF8.self)
}
