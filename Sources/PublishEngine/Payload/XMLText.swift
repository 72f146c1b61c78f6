/// Text as it may stand in an XML 1.0 document, inside an element or inside a quoted attribute.
enum XMLText {
    /// Appends what we wrote ourselves, as it is.
    static func append(markup: StaticString, to bytes: inout [UInt8]) {
        markup.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }

    /// Appends the text escaped. What XML 1.0 cannot hold at all, not even escaped (control characters, U+FFFE,
    /// U+FFFF), is left out: a reader would not have seen it, and the parser refuses the whole document for it.
    ///
    /// Line breaks and tabs are written as references, since a parser would turn them into plain line feeds or, in an
    /// attribute, into spaces.
    static func append(_ text: String, to bytes: inout [UInt8]) {
        var text = text
        text.withUTF8 { append($0, to: &bytes) }
    }

    private static func append(_ utf8: UnsafeBufferPointer<UInt8>, to bytes: inout [UInt8]) {
        var clean = 0
        for (index, byte) in utf8.enumerated() {
            let replacement: StaticString
            var width = 1
            switch byte {
            case UInt8(ascii: "&"): replacement = "&amp;"
            case UInt8(ascii: "<"): replacement = "&lt;"
            // Everywhere, so that `]]>` never stands in text.
            case UInt8(ascii: ">"): replacement = "&gt;"
            case UInt8(ascii: "\""): replacement = "&quot;"
            case UInt8(ascii: "'"): replacement = "&#39;"
            case 0x09: replacement = "&#9;"
            case 0x0A: replacement = "&#10;"
            case 0x0D: replacement = "&#13;"
            case 0..<0x20: replacement = ""
            case 0xEF where isNoncharacter(utf8, at: index):
                replacement = ""
                width = 3
            default: continue
            }
            bytes.append(contentsOf: utf8[clean..<index])
            replacement.withUTF8Buffer { bytes.append(contentsOf: $0) }
            clean = index + width
        }
        bytes.append(contentsOf: utf8[clean...])
    }

    private static func isNoncharacter(_ utf8: UnsafeBufferPointer<UInt8>, at index: Int) -> Bool {
        index + 2 < utf8.count && utf8[index + 1] == 0xBF && utf8[index + 2] >= 0xBE
    }

    /// The bytes `append` writes for one scalar.
    static func cost(_ scalar: Unicode.Scalar) -> Int {
        switch scalar {
        case "&", "\n", "\r", "'": 5
        case "<", ">", "\t": 4
        case "\"": 6
        case "\u{0}"..<" ", "\u{FFFE}", "\u{FFFF}": 0
        default: UTF8.width(scalar)
        }
    }
}
