import ByteText

extension ErrorBody {
    /// Looks for the two elements in bytes that may be anything. No XML is parsed: a body cut short or a wrong
    /// namespace must not cost the reader the one sentence that says what is wrong.
    public init(scanning body: some Collection<UInt8>) {
        let bytes = Array(body.prefix(Self.scannedMax))
        let code = Self.content(of: "Code", in: bytes).flatMap { Self.line($0, lengthMax: 32) }
        let detail = Self.content(of: "Detail", in: bytes).flatMap { Self.line($0, lengthMax: Self.detailLengthMax) }
        self.init(code: code.flatMap { Int($0) }, detail: detail)
    }

    /// The bytes between `<name …>` and `</name>`, or to the end of a body that stops before it.
    private static func content(of name: String, in bytes: [UInt8]) -> ArraySlice<UInt8>? {
        guard let opening = bytes[...].firstRange(of: Array("<\(name)".utf8)) else { return nil }
        let rest = bytes[opening.upperBound...]
        guard let mark = rest.firstIndex(of: UInt8(ascii: ">")), rest[..<mark].last != UInt8(ascii: "/"),
            mark == rest.startIndex || bytes[rest.startIndex] <= 0x20
        else { return nil }
        let content = rest[mark...].dropFirst()
        let closing = content.firstRange(of: Array("</\(name)".utf8))
        return content[..<(closing?.lowerBound ?? content.endIndex)]
    }

    /// Text on one line: entities replaced, control characters made spaces, trimmed and cut between characters.
    private static func line(_ content: ArraySlice<UInt8>, lengthMax: Int) -> String? {
        var line = ""
        var length = 0
        for character in XMLText.replacingReferences(String(decoding: content, as: UTF8.self)).trimmed {
            let shown: Character = character.isWhitespace || character.isControl ? " " : character
            length += shown.utf8.count
            guard length <= lengthMax else { break }
            line.append(shown)
        }
        let trimmed = line.trimmed
        return trimmed.isEmpty ? nil : String(trimmed)
    }
}

extension Character {
    fileprivate var isControl: Bool {
        unicodeScalars.allSatisfy { $0.properties.generalCategory == .control }
    }
}
