import ByteText

/// Texts of an event, taken from JSON with their bounds checked.
enum EventText {
    /// A text that names something; `nil` when blank. A control character is refused, because it would reach record
    /// keys and request headers.
    static func identifier(_ value: JSONValue, name: FieldName, limit: Int) throws(Undecodable) -> String? {
        let text = try checked(value, name: name, limit: limit)
        if isBlank(text) { return nil }
        if hasControl(text) {
            throw Undecodable(.controlCharacter, "\(name) contains a control character: \(Undecodable.quote(text))")
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// A text for readers; `nil` when blank. Control characters other than tabs and line ends become spaces: phones
    /// cannot show them and XML payloads cannot hold them, but they are no reason to hold back news. Characters that change
    /// the direction of what follows are left out: they make a lock screen show a text backwards.
    ///
    /// - Parameter cuts: a text beyond `limit` is cut, instead of being refused.
    static func prose(
        _ value: JSONValue, name: FieldName, limit: Int, cuts: Bool = false
    ) throws(Undecodable) -> String? {
        let text = try checked(value, name: name, limit: cuts ? .max : limit)
        if isBlank(text) { return nil }
        let shown = mayHaveInvisible(text) ? cleaned(text) : String(decoding: text, as: UTF8.self)
        guard cuts, text.count > limit else { return shown }
        return shown.cut(toBytes: limit)
    }

    private static func cleaned(_ text: JSONText) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in String(decoding: text, as: UTF8.self).unicodeScalars {
            switch scalar.value {
            case 0x09, 0x0A, 0x0D: scalars.append(scalar)
            case 0..<0x20, 0x7F...0x9F: scalars.append(" ")
            case 0x202A...0x202E, 0x2066...0x2069: break
            default: scalars.append(scalar)
            }
        }
        return String(scalars)
    }

    /// Detects characters to clean. Most texts have no such character; quotation marks and dashes share a first byte with them.
    private static func mayHaveInvisible(_ text: JSONText) -> Bool {
        let mayHave = ByteWords.any(in: text) {
            $0.hasByte(below: 0x20) | $0.hasByte(0x7F) | $0.hasByte(0xC2) | $0.hasByte(0xE2)
        }
        guard mayHave else { return false }
        var (before, second): (UInt8, UInt8) = (0, 0)
        for byte in text {
            switch (second, before, byte) {
            case (_, _, 0..<0x20), (_, _, 0x7F), (_, 0xC2, 0x80...0x9F), (0xE2, 0x80, 0xAA...0xAE),
                (0xE2, 0x81, 0xA6...0xA9):
                return true
            default: (second, before) = (before, byte)
            }
        }
        return false
    }

    /// A number as text: integers exactly, others in their shortest form (1.50 becomes 1.5).
    static func numeral(_ value: JSONValue) -> String? {
        switch value {
        case .integer(let number): String(number)
        case .unsigned(let number): String(number)
        case .number(let number): Int64(exactly: number).map { String($0) } ?? String(number)
        case .null, .boolean, .string, .array, .object: nil
        }
    }

    /// True if the text has no visible character.
    static func isBlank(_ text: JSONText) -> Bool {
        var hasOther = false
        for byte in text {
            if byte > 0x20, byte < 0x7F { return false }
            hasOther = hasOther || byte >= 0x80
        }
        guard hasOther else { return true }
        return String(decoding: text, as: UTF8.self).unicodeScalars.allSatisfy {
            $0.properties.isWhitespace || $0.properties.generalCategory == .format
                || $0.properties.generalCategory == .control
        }
    }

    private static func checked(_ value: JSONValue, name: FieldName, limit: Int) throws(Undecodable) -> JSONText {
        guard case .string(let text) = value else {
            throw .wrongType(name.description, wanted: "a string", found: value)
        }
        guard text.count <= limit else {
            throw Undecodable(.tooLong, "\(name) has \(text.count) bytes; at most \(limit) are allowed")
        }
        return text
    }

    private static func hasControl(_ text: JSONText) -> Bool {
        ByteWords.any(in: text) { $0.hasByte(below: 0x20) | $0.hasByte(0x7F) }
    }
}

/// A member's name for messages; composed only when a message needs it.
struct FieldName: CustomStringConvertible {
    var parent: StaticString = ""
    var name: JSONText

    var description: String { "\(parent)\(String(decoding: name.prefix(64), as: UTF8.self))" }
}
