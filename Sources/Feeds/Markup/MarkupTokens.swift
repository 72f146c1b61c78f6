import ByteText

/// Splits lenient XML or HTML into tokens. It is pure and linear in time and never fails: anything else is text.
///
/// A tag needs its `>`. In `5 < 6`, `a <b or c` and a comment without an end, the `<` is text, so that no visible text
/// is lost. Entity declarations are not read: a document type is skipped with its internal subset.
///
/// Our own scanner, because `XMLParser` and libxml2 silently lose the text after a bare `&`, and `XMLParser` takes a second for
/// an entity bomb of 110 KB. Without C code it also runs in the simulation and in fuzz tests.
struct MarkupTokens {
    struct Token {
        enum Kind {
            /// Characters, including their references.
            case text
            /// The content of a CDATA section, without references.
            case data
            case startTag
            case endTag
            /// The content of a document type declaration.
            case documentType
            /// Comments, processing instructions and other declarations.
            case skipped
        }

        var kind: Kind
        /// The whole token with its delimiters.
        var start: Int
        var end: Int
        /// The content: the characters, the content of the CDATA section, or the tag's attributes.
        var inside: Range<Int>
        /// The tag's name with its prefix.
        var name = 0..<0
        var closesItself = false
        /// True if an attribute's name begins with `xmlns`.
        var declaresNamespace = false
        /// False if the document ended inside the token.
        var isComplete = true
    }

    let bytes: UnsafeBufferPointer<UInt8>
    let end: Int
    private(set) var position: Int
    /// Number of steps taken, for tests that compare the work for inputs of different sizes.
    private(set) var work = 0

    /// Failed searches. They are not repeated, so that constructs without an end take linear time.
    private var absent = Set8()
    /// Elements whose end tag is missing.
    private var unended = Set8()

    init(_ bytes: UnsafeBufferPointer<UInt8>, in range: Range<Int>? = nil) {
        self.bytes = bytes
        let range = (range ?? 0..<bytes.count).clamped(to: 0..<bytes.count)
        position = range.lowerBound
        end = range.upperBound
    }

    mutating func next() -> Token? {
        guard position < end else { return nil }
        let start = position
        if bytes[start] == UInt8(ascii: "<"), let token = markup(at: start) {
            position = token.end
            work &+= token.end - start
            return token
        }
        // The byte at `start` may be a `<` that begins no markup.
        position = bytes.index(of: UInt8(ascii: "<"), from: start + 1, to: end) ?? end
        work &+= position - start
        return Token(kind: .text, start: start, end: position, inside: start..<position)
    }

    /// Skips the rest of an element whose content is not markup. Skips nothing if the end tag is missing.
    ///
    /// - Parameter place: a number below 8 for the element's name, under which a failed search is recorded.
    mutating func skip(toEndOf name: String, _ place: Int) {
        let memory = Set8(rawValue: 1 << UInt8(clamping: place))
        guard place < 8, !unended.contains(memory) else { return }
        var at = position
        while let hit = bytes.index(of: UInt8(ascii: "<"), from: at, to: end) {
            if hit + 1 < end, bytes[hit + 1] == UInt8(ascii: "/"),
                bytes.text(hit + 2..<min(hit + 2 + name.utf8.count, end)).equalsIgnoringASCIICase(name)
            {
                work &+= hit - position
                position = hit
                return
            }
            at = hit + 1
        }
        work &+= end - position
        unended.insert(memory)
    }

    // MARK: - Markup

    private mutating func markup(at start: Int) -> Token? {
        let after = start + 1
        guard after < end else { return nil }
        switch bytes[after] {
        case UInt8(ascii: "/"): return endTag(at: start)
        case UInt8(ascii: "!"): return declaration(at: start)
        case UInt8(ascii: "?"):
            return section(.skipped, start, opening: 2, until: "?>", .instructionEnd)
                ?? section(.skipped, start, opening: 2, until: ">", .tagEnd)
        case let byte where byte.beginsName: return startTag(at: start)
        default: return nil
        }
    }

    private mutating func declaration(at start: Int) -> Token? {
        if bytes.holds("<!--", at: start, end) {
            return section(.skipped, start, opening: 4, until: "-->", .commentEnd)
        }
        if bytes.holds("<![CDATA[", at: start, end) {
            let inside = start + 9
            guard let close = find("]]>", from: inside, .dataEnd) else {
                return Token(kind: .data, start: start, end: end, inside: inside..<end, isComplete: false)
            }
            return Token(kind: .data, start: start, end: close + 3, inside: inside..<close)
        }
        if bytes.holds("<!DOCTYPE", at: start, end, ignoringCase: true), !absent.contains(.documentTypeEnd) {
            if let token = documentType(at: start) { return token }
            absent.insert(.documentTypeEnd)
        }
        // `<!>` is an empty comment. Any other mark begins no markup.
        guard start + 2 < end, bytes[start + 2].beginsName || "->[".utf8.contains(bytes[start + 2]) else { return nil }
        return section(.skipped, start, opening: 2, until: ">", .tagEnd)
    }

    private mutating func section(
        _ kind: Token.Kind, _ start: Int, opening: Int, until close: StaticString, _ memory: Set8
    ) -> Token? {
        let inside = start + opening
        guard let found = find(close, from: inside, memory) else { return nil }
        return Token(kind: kind, start: start, end: found + close.utf8CodeUnitCount, inside: inside..<found)
    }

    private mutating func find(_ text: StaticString, from start: Int, _ memory: Set8) -> Int? {
        if absent.contains(memory) { return nil }
        if let found = bytes.index(of: text, from: start, to: end) { return found }
        work &+= end - min(start, end)
        absent.insert(memory)
        return nil
    }

    /// The internal subset of a document type may contain declarations with their own `>`, quoted texts and comments.
    private mutating func documentType(at start: Int) -> Token? {
        let inside = start + 9
        var depth = 0
        var at = inside
        while at < end {
            work &+= 1
            switch bytes[at] {
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                let memory: Set8 = bytes[at] == UInt8(ascii: "\"") ? .doubleQuote : .singleQuote
                if !absent.contains(memory) {
                    if let close = bytes.index(of: bytes[at], from: at + 1, to: end) {
                        work &+= close - at
                        at = close
                    } else {
                        work &+= end - at
                        absent.insert(memory)
                    }
                }
            case UInt8(ascii: "<") where bytes.holds("<!--", at: at, end):
                guard let close = find("-->", from: at + 4, .commentEnd) else { return nil }
                work &+= close - at
                at = close + 2
            case UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "]"): depth = max(depth - 1, 0)
            case UInt8(ascii: ">") where depth == 0:
                return Token(kind: .documentType, start: start, end: at + 1, inside: inside..<at)
            default: break
            }
            at += 1
        }
        return nil
    }

    // MARK: - Tags

    private func endTag(at start: Int) -> Token? {
        let name = start + 2
        guard name < end, bytes[name].beginsName else { return nil }
        let nameEnd = bytes.nameEnd(from: name, to: end)
        var at = nameEnd
        while at < end, bytes[at] != UInt8(ascii: ">"), bytes[at] != UInt8(ascii: "<") { at += 1 }
        let isClosed = at < end && bytes[at] == UInt8(ascii: ">")
        return Token(
            kind: .endTag, start: start, end: isClosed ? at + 1 : at, inside: at..<at, name: name..<nameEnd,
            isComplete: at < end)
    }

    private mutating func startTag(at start: Int) -> Token? {
        let name = start + 1
        let nameEnd = bytes.nameEnd(from: name, to: end)
        // Most tags have no attributes.
        if nameEnd < end, bytes[nameEnd] == UInt8(ascii: ">") {
            return Token(
                kind: .startTag, start: start, end: nameEnd + 1, inside: nameEnd..<nameEnd, name: name..<nameEnd)
        }
        var attributes = MarkupAttributes(bytes, in: nameEnd..<end, absent: absent)
        var declaresNamespace = false
        while let attribute = attributes.next() {
            declaresNamespace = declaresNamespace || bytes.holds("xmlns", at: attribute.name.lowerBound, end)
        }
        absent = attributes.absent
        work &+= attributes.work
        let tagEnd = attributes.position
        // A tag that ends before its `>` is not a tag, so its characters are text.
        guard tagEnd < end, bytes[tagEnd] == UInt8(ascii: ">") else {
            return Token(
                kind: .text, start: start, end: tagEnd, inside: start..<tagEnd, isComplete: tagEnd < end)
        }
        return Token(
            kind: .startTag, start: start, end: tagEnd + 1, inside: nameEnd..<tagEnd, name: name..<nameEnd,
            closesItself: bytes[tagEnd - 1] == UInt8(ascii: "/"), declaresNamespace: declaresNamespace)
    }

    /// The searches that have failed.
    struct Set8: OptionSet {
        var rawValue: UInt8 = 0
        static let tagEnd = Self(rawValue: 1)
        static let instructionEnd = Self(rawValue: 2)
        static let commentEnd = Self(rawValue: 4)
        static let dataEnd = Self(rawValue: 8)
        static let documentTypeEnd = Self(rawValue: 16)
        static let doubleQuote = Self(rawValue: 32)
        static let singleQuote = Self(rawValue: 64)
    }
}
