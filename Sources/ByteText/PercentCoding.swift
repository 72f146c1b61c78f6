// Percent-encoding. RFC 3986 §2.1. Inlinable, so that it is compiled for the kind of text that the caller has.

extension StringProtocol {
    /// The text with every byte but letters, digits and `-._~` as `%XX` with upper-case digits. RFC 3986 §2.3.
    @inlinable
    public var percentEncoded: String {
        let digits: StaticString = "0123456789ABCDEF"
        var encoded: [UInt8] = []
        encoded.reserveCapacity(utf8.count * 3 / 2)
        for byte in utf8 {
            if byte.isASCIILetter || byte.isASCIIDigit || "-._~".utf8.contains(byte) {
                encoded.append(byte)
            } else {
                encoded.append(UInt8(ascii: "%"))
                encoded.append(digits.utf8Start[Int(byte >> 4)])
                encoded.append(digits.utf8Start[Int(byte & 0xF)])
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    /// - Parameter plusIsSpace: true for the query of a form; elsewhere `+` is a character of its own, as in base64.
    /// - Returns: `nil` for an escape without two digits, and for bytes that are not UTF-8.
    @inlinable
    public func percentDecoded(plusIsSpace: Bool = false) -> String? {
        guard utf8.contains(where: { $0 == UInt8(ascii: "%") || plusIsSpace && $0 == UInt8(ascii: "+") }) else {
            return String(self)
        }
        var decoded: [UInt8] = []
        decoded.reserveCapacity(utf8.count)
        var bytes = utf8.makeIterator()
        while let byte = bytes.next() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = bytes.next()?.hexDigitValue, let low = bytes.next()?.hexDigitValue else { return nil }
                decoded.append(high << 4 | low)
            case UInt8(ascii: "+") where plusIsSpace: decoded.append(UInt8(ascii: " "))
            default: decoded.append(byte)
            }
        }
        return String(validating: decoded, as: UTF8.self)
    }
}
