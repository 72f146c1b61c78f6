import ByteText

/// Replaces character references and named entities. Drops characters that XML forbids, including referenced ones.
enum CharacterReferences {
    /// Appends a range with its references replaced. An `&` that begins no reference stays an `&`.
    ///
    /// - Parameter isHTML: true if some references may lack their `;`.
    static func decode(
        _ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>, isHTML: Bool = false, to text: inout [UInt8]
    ) {
        var start = range.lowerBound
        while let ampersand = bytes.index(of: UInt8(ascii: "&"), from: start, to: range.upperBound) {
            copyAllowed(bytes, start..<ampersand, to: &text)
            if let reference = Reference(bytes, at: ampersand, end: range.upperBound, isHTML: isHTML) {
                reference.append(to: &text)
                start = reference.end
            } else {
                text.append(UInt8(ascii: "&"))
                start = ampersand + 1
            }
        }
        copyAllowed(bytes, start..<range.upperBound, to: &text)
    }

    /// Appends a range without characters that XML forbids.
    static func copyAllowed(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>, to text: inout [UInt8]) {
        guard !range.isEmpty else { return }
        let run = UnsafeBufferPointer(rebasing: bytes[range])
        // Line ends and tabs are allowed and common, so they must not lead to the slow path.
        guard run.contains(where: { $0 < 0x20 && !$0.isMarkupBlank || $0 == 0x0C || $0 == 0xEF }) else {
            return text.append(contentsOf: run)
        }
        var at = 0
        while at < run.count {
            let byte = run[at]
            if byte == 0xEF, at + 2 < run.count, run[at + 1] == 0xBF, run[at + 2] >= 0xBE {
                at += 3
                continue
            }
            if byte >= 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { text.append(byte) }
            at += 1
        }
    }

    /// One reference in a range of text.
    struct Reference {
        /// The index after the `;`.
        let end: Int
        private let character: Character

        private enum Character {
            case scalar(Unicode.Scalar?)
            case named(HTMLEntities.Characters)
        }

        /// `nil` if the `&` at `start` begins no reference. In HTML, numbers and old names may lack their `;` unless a
        /// word continues: `&copy 2026`, but not the `&copy=` of an address.
        init?(_ bytes: UnsafeBufferPointer<UInt8>, at start: Int, end: Int, isHTML: Bool) {
            // The longest name has 31 letters. A number with more digits has leading zeros or no meaning.
            let limit = min(end, start + 34)
            var at = start + 1
            guard at < limit else { return nil }
            let isLegacy: Bool
            if bytes[at] == UInt8(ascii: "#") {
                guard let (value, after) = Self.number(bytes, at + 1, limit) else { return nil }
                character = .scalar(Self.scalar(value))
                (isLegacy, at) = (true, after)
            } else {
                while at < limit, bytes[at].isASCIILetter || bytes[at].isASCIIDigit { at += 1 }
                let name = UnsafeBufferPointer(rebasing: bytes[start + 1..<at])
                guard let characters = HTMLEntities.characters(named: name) else { return nil }
                character = .named(characters)
                isLegacy = characters.isLegacy
            }
            if at < limit, bytes[at] == UInt8(ascii: ";") {
                self.end = at + 1
            } else {
                guard isHTML, isLegacy, at == end || !Self.goesOn(bytes[at]) else { return nil }
                self.end = at
            }
        }

        private static func goesOn(_ byte: UInt8) -> Bool {
            byte.isASCIILetter || byte.isASCIIDigit || byte == UInt8(ascii: "=")
        }

        func append(to text: inout [UInt8]) {
            switch character {
            case .scalar(let scalar?): text.append(contentsOf: UTF8.encode(scalar).map { Array($0) } ?? [])
            case .scalar(nil): break
            case .named(let characters): characters.append(to: &text)
            }
        }

        private static func number(
            _ bytes: UnsafeBufferPointer<UInt8>, _ start: Int, _ limit: Int
        ) -> (UInt32, end: Int)? {
            var at = start
            var radix: UInt32 = 10
            if at < limit, bytes[at].asciiLowercased == UInt8(ascii: "x") {
                radix = 16
                at += 1
            }
            let digits = at
            var value: UInt32 = 0
            while at < limit, let digit = bytes[at].hexDigitValue, radix == 16 || digit < 10 {
                // Capped, because all values beyond Unicode are equally invalid.
                value = min(value * radix + UInt32(digit), 0x110000)
                at += 1
            }
            return at > digits ? (value, at) : nil
        }

        /// `nil` for characters that XML forbids. As in HTML, 128 to 159 mean windows-1252 and not control characters.
        private static func scalar(_ value: UInt32) -> Unicode.Scalar? {
            switch value {
            case 0x09, 0x0A, 0x0D: return Unicode.Scalar(value)
            case 0..<0x20, 0xFFFE, 0xFFFF: return nil
            case 0x80...0x9F: return Windows1252.scalar(UInt8(value))
            default: return Unicode.Scalar(value)
            }
        }
    }
}

/// The characters of windows-1252 that differ from Unicode.
enum Windows1252 {
    /// - Parameter byte: 0x80 to 0x9F. Five of them have no character there and keep their meaning in Unicode.
    static func scalar(_ byte: UInt8) -> Unicode.Scalar {
        guard (0x80...0x9F).contains(byte) else { return Unicode.Scalar(byte) }
        return Unicode.Scalar(table[Int(byte - 0x80)]) ?? Unicode.Scalar(byte)
    }

    private static let table: [UInt16] = [
        0x20AC, 0x81, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D,
        0x017D, 0x8F, 0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A,
        0x0153, 0x9D, 0x017E, 0x0178,
    ]
}
