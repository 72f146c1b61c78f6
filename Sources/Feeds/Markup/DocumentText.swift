import ByteText

/// Converts a document's bytes from any encoding to UTF-8.
enum DocumentText {
    /// Returns valid UTF-8 without a byte order mark.
    ///
    /// A byte order mark decides. Without one, bytes that are valid UTF-8 are UTF-8 whatever is declared, because a
    /// wrong declaration is likelier than another encoding that looks like UTF-8. Otherwise the charset of Content-Type
    /// counts, then that of the XML declaration, then windows-1252.
    static func utf8(_ bytes: [UInt8], charset: String?) -> [UInt8] { decode(bytes, charset: charset).text }

    /// - Returns: `isLegible` is false if no encoding fits: the bytes are not UTF-8, and as windows-1252 they would be
    ///   gibberish. An example is Japanese, Chinese or Russian text declared as UTF-8.
    static func decode(_ bytes: [UInt8], charset: String?) -> (text: [UInt8], isLegible: Bool) {
        if let text = declaredText(bytes, charset: charset) { return (text, true) }
        if isMostlyUTF8(bytes) { return (repaired(bytes), true) }
        return (windows1252(bytes), isWestern(bytes))
    }

    /// Returns true if the bytes look like Western text, whose letters and punctuation occur between ASCII. Bytes of
    /// other scripts occur together, or are signs that nobody uses.
    private static func isWestern(_ bytes: [UInt8]) -> Bool {
        var (likely, unlikely, run) = (0, 0, 0)
        func end(_ run: Int, _ rare: Int) {
            if run >= 4 { unlikely += run } else { (likely, unlikely) = (likely + run - rare, unlikely + rare) }
        }
        var rare = 0
        for byte in bytes {
            guard byte >= 0x80 else {
                end(run, rare)
                (run, rare) = (0, 0)
                continue
            }
            run += 1
            switch byte {
            case 0x80, 0x85, 0x91...0x97, 0x99, 0xA0...0xFF, 0x8A, 0x8C, 0x8E, 0x9A, 0x9C, 0x9E, 0x9F: break
            default: rare += 1
            }
        }
        end(run, rare)
        return likely >= unlikely
    }

    /// Decodes the text by its byte order mark, or as UTF-8, or by a declared encoding.
    private static func declaredText(_ bytes: [UInt8], charset: String?) -> [UInt8]? {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return repaired(Array(bytes.dropFirst(3))) }
        if let encoding = wideEncoding(bytes) {
            let text = Iconv.utf8(bytes, from: encoding) ?? repaired(bytes)
            return text.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(text.dropFirst(3)) : text
        }
        let declared = { () -> [String] in
            [charset, declaration(in: bytes)].compactMap { $0.flatMap { Charset.known($0) } }
        }
        if bytes.contains(0x1B) {
            // All bytes of ISO-2022-JP are ASCII, so it looks like UTF-8.
            if declared().contains(Charset.iso2022JP), let text = Iconv.utf8(bytes, from: Charset.iso2022JP) {
                return text
            }
        }
        if isValid(bytes) { return bytes }
        for name in declared() {
            // Windows-1252 has a meaning for every byte.
            if name == Charset.windows1252 { return isMostlyUTF8(bytes) ? repaired(bytes) : windows1252(bytes) }
            if name == Charset.utf8 {
                if isMostlyUTF8(bytes) { return repaired(bytes) }
            } else if let text = Iconv.utf8(bytes, from: name) {
                return text
            }
        }
        return nil
    }

    private static func isValid(_ bytes: [UInt8]) -> Bool {
        (try? UTF8Span(validating: bytes.span)) != nil
    }

    /// Replaces each part that is not UTF-8 by one U+FFFD.
    private static func repaired(_ bytes: [UInt8]) -> [UInt8] {
        isValid(bytes) ? bytes : Array(String(decoding: bytes, as: UTF8.self).utf8)
    }

    /// Returns true if most of the bytes beyond ASCII are valid UTF-8, so that the text is broken UTF-8.
    private static func isMostlyUTF8(_ bytes: [UInt8]) -> Bool {
        var (good, bad, at) = (0, 0, 0)
        while at < bytes.count {
            let byte = bytes[at]
            at += 1
            guard byte >= 0x80 else { continue }
            let wanted =
                byte >= 0xF0 && byte < 0xF5 ? 3 : byte >= 0xE0 && byte < 0xF0 ? 2 : byte >= 0xC2 && byte < 0xE0 ? 1 : 0
            var seen = 0
            while seen < wanted, at < bytes.count, bytes[at] & 0xC0 == 0x80 { (seen, at) = (seen + 1, at + 1) }
            if wanted > 0, seen == wanted {
                good += 1
            } else if wanted == 0 || at < bytes.count {
                // A character that is cut off by the end says nothing.
                bad += 1
            }
        }
        return good > bad
    }

    private static func windows1252(_ bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count + bytes.count / 8)
        for byte in bytes {
            if byte < 0x80 {
                text.append(byte)
            } else {
                text.append(contentsOf: UTF8.encode(Windows1252.scalar(byte)) ?? UTF8.encodedReplacementCharacter)
            }
        }
        return text
    }

    /// Detects, by the first bytes, encodings in which an ASCII character has several bytes or other ones.
    private static func wideEncoding(_ bytes: [UInt8]) -> String? {
        func begin(_ start: UInt8...) -> Bool { bytes.starts(with: start) }
        if begin(0xFF, 0xFE, 0, 0) { return "UTF-32LE" }
        if begin(0, 0, 0xFE, 0xFF) || begin(0, 0, 0, 0x3C) { return "UTF-32BE" }
        if begin(0x3C, 0, 0, 0) { return "UTF-32LE" }
        if begin(0xFF, 0xFE) { return "UTF-16LE" }
        if begin(0xFE, 0xFF) { return "UTF-16BE" }
        if begin(0x4C, 0x6F, 0xA7, 0x94) { return "IBM037" }
        guard bytes.count >= 4 else { return nil }
        // Markup and JSON begin with ASCII characters.
        if bytes[0] == 0, bytes[1] != 0, bytes[2] == 0, bytes[3] != 0 { return "UTF-16BE" }
        if bytes[0] != 0, bytes[1] == 0, bytes[2] != 0, bytes[3] == 0 { return "UTF-16LE" }
        return nil
    }

    /// Returns the encoding named in an XML declaration.
    private static func declaration(in bytes: [UInt8]) -> String? {
        let head = String(decoding: bytes.prefix(512), as: UTF8.self)
        guard head.trimmed.hasPrefix("<?xml"), let end = head.firstRange(of: "?>"),
            let name = head[..<end.lowerBound].firstRange(of: "encoding")
        else { return nil }
        let value = head[name.upperBound..<end.lowerBound].drop { $0 == "=" || $0.isWhitespace }
        guard let quote = value.first, quote == "\"" || quote == "'" else { return nil }
        return String(value.dropFirst().prefix { $0 != quote })
    }
}
