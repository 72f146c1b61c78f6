/// Text as it may stand in an XML 1.0 document.
public enum XMLText {
    public enum Place {
        /// Between two tags; quotes, line feeds and tabs stay as they are.
        case content
        /// Anywhere, so also inside a quoted attribute, where a parser would turn line breaks and tabs into spaces.
        case attribute
    }

    /// The fate of characters that XML 1.0 cannot hold at all, not even escaped: control characters, U+FFFE, U+FFFF. A
    /// parser refuses the whole document for one of them.
    public enum Unwritable {
        case leftOut
        /// Replaced by U+FFFD, the replacement character.
        case replaced
    }

    /// Appends our own markup unchanged.
    public static func append(markup: StaticString, to bytes: inout [UInt8]) {
        markup.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }

    /// Appends the text escaped.
    public static func append(
        _ text: String, in place: Place = .attribute, unwritable: Unwritable = .replaced, to bytes: inout [UInt8]
    ) {
        text.withBytes { append($0, in: place, unwritable: unwritable, to: &bytes) }
    }

    public static func escaped(
        _ text: String, in place: Place = .attribute, unwritable: Unwritable = .replaced
    ) -> String {
        guard text.utf8.contains(where: mayNeedEscape) else { return text }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count + 32)
        append(text, in: place, unwritable: unwritable, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The number of bytes that `append` writes for one scalar in an attribute with unwritable characters left out.
    public static func cost(_ scalar: Unicode.Scalar) -> Int {
        switch scalar {
        case "&", "\n", "\r", "'": 5
        case "<", ">", "\t": 4
        case "\"": 6
        case "\u{0}"..<" ", "\u{FFFE}", "\u{FFFF}": 0
        default: UTF8.width(scalar)
        }
    }

    private static func append(
        _ utf8: UnsafeBufferPointer<UInt8>, in place: Place, unwritable: Unwritable, to bytes: inout [UInt8]
    ) {
        var clean = 0
        for (index, byte) in utf8.enumerated() where mayNeedEscape(byte) {
            let replacement: StaticString
            var width = 1
            switch byte {
            case UInt8(ascii: "&"): replacement = "&amp;"
            case UInt8(ascii: "<"): replacement = "&lt;"
            // Escaped everywhere, so that `]]>` never occurs in text.
            case UInt8(ascii: ">"): replacement = "&gt;"
            // A parser turns a bare one into a line feed.
            case 0x0D: replacement = "&#13;"
            case 0x09, 0x0A, UInt8(ascii: "\""), UInt8(ascii: "'"):
                guard place == .attribute else { continue }
                replacement = byte == 0x09 ? "&#9;" : byte == 0x0A ? "&#10;" : byte == 0x22 ? "&quot;" : "&#39;"
            case 0xEF:
                guard isNoncharacter(utf8, at: index) else { continue }
                width = 3
                fallthrough
            default: replacement = unwritable == .replaced ? "\u{FFFD}" : ""
            }
            bytes.append(contentsOf: utf8[clean..<index])
            replacement.withUTF8Buffer { bytes.append(contentsOf: $0) }
            clean = index + width
        }
        bytes.append(contentsOf: utf8[clean...])
    }

    private static func mayNeedEscape(_ byte: UInt8) -> Bool {
        switch byte {
        case 0..<0x20, UInt8(ascii: "&"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\""), UInt8(ascii: "'"),
            0xEF:
            true
        default: false
        }
    }

    private static func isNoncharacter(_ utf8: UnsafeBufferPointer<UInt8>, at index: Int) -> Bool {
        index + 2 < utf8.count && utf8[index + 1] == 0xBF && utf8[index + 2] >= 0xBE
    }
}

extension XMLText {
    /// The text with its references replaced: the five entities of XML 1.0 §4.6 and character references. Anything else
    /// stays as it is.
    public static func replacingReferences(_ text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "&")) else { return text }
        var replaced = ""
        var rest = text[...]
        while let ampersand = rest.firstIndex(of: "&") {
            replaced += rest[..<ampersand]
            rest = rest[ampersand...].dropFirst()
            let name = rest.prefix(10).prefix { $0 != ";" }
            if name.endIndex < rest.endIndex, rest[name.endIndex] == ";", let scalar = scalar(named: name) {
                replaced.unicodeScalars.append(scalar)
                rest = rest[name.endIndex...].dropFirst()
            } else {
                replaced.append("&")
            }
        }
        return replaced + rest
    }

    /// - Parameter name: the text between `&` and `;`.
    /// - Returns: `nil` for any entity but the five, and for a number that names no character.
    public static func scalar(named name: some StringProtocol) -> Unicode.Scalar? {
        switch name {
        case "amp": return "&"
        case "lt": return "<"
        case "gt": return ">"
        case "quot": return "\""
        case "apos": return "'"
        default:
            guard name.utf8.first == UInt8(ascii: "#") else { return nil }
            let isHexadecimal = name.utf8.dropFirst().first == UInt8(ascii: "x")
            let digits = name.dropFirst(isHexadecimal ? 2 : 1)
            // `UInt32` would take a sign.
            guard digits.utf8.allSatisfy({ $0.hexDigitValue != nil }) else { return nil }
            return UInt32(digits, radix: isHexadecimal ? 16 : 10).flatMap { Unicode.Scalar($0) }
        }
    }
}
