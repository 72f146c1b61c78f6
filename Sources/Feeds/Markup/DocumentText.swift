import ByteText

/// A document's bytes as UTF-8, whatever they were written in.
enum DocumentText {
    /// Valid UTF-8 without a byte order mark.
    ///
    /// A byte order mark decides. Without one, bytes that are valid UTF-8 are UTF-8 whatever is declared: a wrong
    /// declaration is more likely than another encoding that happens to look like it. Then the charset of Content-Type
    /// counts, then that of the XML declaration, then windows-1252.
    static func utf8(_ bytes: [UInt8], charset: String?) -> [UInt8] { decode(bytes, charset: charset).text }

    /// - Returns: `isLegible` is false when nothing says how to read the bytes: they are not UTF-8, whatever is declared, and
    ///   as windows-1252 they would be gibberish, as is Japanese, Chinese or Russian that is declared as UTF-8.
    static func decode(_ bytes: [UInt8], charset: String?) -> (text: [UInt8], isLegible: Bool) {
        if let text = declaredText(bytes, charset: charset) { return (text, true) }
        if isMostlyUTF8(bytes) { return (repaired(bytes), true) }
        return (windows1252(bytes), isWestern(bytes))
    }

    /// Western letters and punctuation stand between ASCII; bytes of other scripts stand together, or are signs that
    /// nobody uses.
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

    /// The text by its mark, by being UTF-8, or by an encoding that is declared.
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
            // Its bytes are all ASCII, so it looks like UTF-8.
            if declared().contains(Charset.iso2022JP), let text = Iconv.utf8(bytes, from: Charset.iso2022JP) {
                return text
            }
        }
        if isValid(bytes) { return bytes }
        for name in declared() {
            // It has a meaning for every byte.
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

    /// One U+FFFD for each part that is not UTF-8.
    private static func repaired(_ bytes: [UInt8]) -> [UInt8] {
        isValid(bytes) ? bytes : Array(String(decoding: bytes, as: UTF8.self).utf8)
    }

    /// Broken UTF-8, rather than another encoding: most of what is not ASCII can be read.
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
                // A character that the end cuts off says nothing.
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

    /// Encodings in which an ASCII character takes several bytes or is another one, told by the first of them.
    private static func wideEncoding(_ bytes: [UInt8]) -> String? {
        func begin(_ start: UInt8...) -> Bool { bytes.starts(with: start) }
        if begin(0xFF, 0xFE, 0, 0) { return "UTF-32LE" }
        if begin(0, 0, 0xFE, 0xFF) || begin(0, 0, 0, 0x3C) { return "UTF-32BE" }
        if begin(0x3C, 0, 0, 0) { return "UTF-32LE" }
        if begin(0xFF, 0xFE) { return "UTF-16LE" }
        if begin(0xFE, 0xFF) { return "UTF-16BE" }
        if begin(0x4C, 0x6F, 0xA7, 0x94) { return "IBM037" }
        guard bytes.count >= 4 else { return nil }
        // A character of ASCII first, as markup and JSON have.
        if bytes[0] == 0, bytes[1] != 0, bytes[2] == 0, bytes[3] != 0 { return "UTF-16BE" }
        if bytes[0] != 0, bytes[1] == 0, bytes[2] != 0, bytes[3] == 0 { return "UTF-16LE" }
        return nil
    }

    /// The encoding that an XML declaration names.
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
