import ByteText

/// A reference split by RFC 3986, appendix B, with percent-encoding wherever it is required.
struct Reference {
    /// The scheme in lower case.
    var scheme: String?
    var authority: String?
    var path: String
    var query: String?
    var fragment: String?

    init?(_ text: some StringProtocol) {
        guard text.utf8.count <= WebAddress.textMax else { return nil }
        // Line breaks inside an address come from wrapping, and are removed as everywhere on the web.
        let bytes = Array(String(text.trimmed).utf8.filter { $0 >= 0x20 && $0 != 0x7F })
        var rest = bytes[...]
        let part = { (bytes: ArraySlice<UInt8>) in Self.encoded(bytes) }
        if let hash = rest.firstIndex(of: UInt8(ascii: "#")) {
            fragment = part(rest[(hash + 1)...])
            rest = rest[..<hash]
        }
        if let mark = rest.firstIndex(of: UInt8(ascii: "?")) {
            query = part(rest[(mark + 1)...])
            rest = rest[..<mark]
        }
        if let colon = rest.firstIndex(of: UInt8(ascii: ":")), Self.isScheme(rest[..<colon]) {
            scheme = String(decoding: rest[..<colon], as: UTF8.self).asciiLowercased
            rest = rest[(colon + 1)...]
        }
        if rest.starts(with: "//".utf8) {
            rest = rest.dropFirst(2)
            let end = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
            authority = String(decoding: rest[..<end], as: UTF8.self)
            rest = rest[end...]
        }
        path = part(rest)
    }

    private static func isScheme(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard let first = bytes.first, first.isASCIILetter else { return false }
        return bytes.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || "+-.".utf8.contains($0) }
    }

    /// Escapes bytes that no address may contain, and a percent sign without two hexadecimal digits.
    private static func encoded(_ bytes: ArraySlice<UInt8>) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var encoded: [UInt8] = []
        encoded.reserveCapacity(bytes.count)
        for (index, byte) in zip(bytes.indices, bytes) {
            let isEscape =
                byte == UInt8(ascii: "%") && bytes[(index + 1)...].prefix(2).count == 2
                && bytes[(index + 1)...].prefix(2).allSatisfy { $0.hexDigitValue != nil }
            if isEscape || byte != UInt8(ascii: "%") && isAllowed(byte) {
                encoded.append(byte)
            } else {
                encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 0xF)]]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    /// Returns true if the byte is allowed in any part except the authority.
    static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x21, 0x23...0x3B, 0x3D, 0x3F...0x5B, 0x5D, 0x5F, 0x61...0x7A, 0x7E: true
        default: false
        }
    }
}

/// The part of an address between `//` and the path.
struct Authority {
    var userInfo: String?
    var host: String
    var port: Int?

    /// Length of the longest name that DNS can resolve.
    static let hostMax = 253

    /// - Returns: `nil` for an authority without a host, or if a browser might read it differently.
    init?(_ text: String) {
        var rest = text[...]
        if let at = rest.utf8.lastIndex(of: UInt8(ascii: "@")) {
            let info = rest[..<at]
            guard info.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !#""<>\^`{|}@[]"#.utf8.contains($0) }) else {
                return nil
            }
            if !info.isEmpty { userInfo = String(info) }
            rest = rest[rest.utf8.index(after: at)...]
        }
        let afterBracket = rest.utf8.lastIndex(of: UInt8(ascii: "]")) ?? rest.startIndex
        if let colon = rest[afterBracket...].utf8.lastIndex(of: UInt8(ascii: ":")) {
            let digits = rest[rest.utf8.index(after: colon)...]
            if !digits.isEmpty {
                guard digits.utf8.count <= 5, digits.utf8.allSatisfy(\.isASCIIDigit), let port = Int(digits),
                    (1...65_535).contains(port)
                else { return nil }
                self.port = port
            }
            rest = rest[..<colon]
        }
        guard let host = rest.hasPrefix("[") ? Self.literal(rest) : Self.name(rest) else { return nil }
        self.host = host
    }

    /// Reads an IPv6 address.
    private static func literal(_ text: Substring) -> String? {
        guard text.utf8.count <= 64, text.hasSuffix("]"),
            text.dropFirst().dropLast().utf8.allSatisfy({ $0.hexDigitValue != nil || $0 == 0x3A || $0 == 0x2E }),
            text.utf8.contains(UInt8(ascii: ":"))
        else { return nil }
        return text.asciiLowercased
    }

    private static func name(_ text: Substring) -> String? {
        guard let decoded = text.percentDecoded(), let host = Punycode.ascii(hostName: decoded),
            !host.isEmpty, host.utf8.count <= hostMax,
            host.utf8.allSatisfy({ $0.isASCIILetter || $0.isASCIIDigit || "-._~!$&'()*+,;=".utf8.contains($0) })
        else { return nil }
        return host
    }
}
