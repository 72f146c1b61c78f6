import ByteText

/// Reads a well-formed XML 1.0 text into a tree. The only entities are the five predefined ones and character
/// references; depth is bounded and there is no document type. The text is always read as UTF-8, because .NET clients
/// declare utf-16 and send UTF-8.
package struct XMLReader {
    /// The deepest nesting. Deeper texts are refused, so that reading cannot exhaust the stack.
    static let depthMax = 64
    /// The most attributes of one element, because each is compared with all others.
    static let attributesMax = 64

    /// The reason why a text is refused. The raw value is the hub's message.
    package enum Problem: String, Error {
        case notUTF8 = "The body is not valid UTF-8"
        case syntax = "The body is not well-formed XML"
        case documentType = "The body must not have a document type declaration"
        case tooDeep = "The body is nested too deeply"
        case tooManyAttributes = "An element of the body has more than 64 attributes"
    }

    private let bytes: [UInt8]
    private var position = 0

    package static func read(_ bytes: [UInt8]) throws(Problem) -> XMLElement {
        guard String(validating: bytes, as: UTF8.self) != nil else { throw .notUTF8 }
        var reader = XMLReader(bytes: bytes)
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { reader.position = 3 }
        try reader.skipProlog()
        let root = try reader.element(depth: 0)
        try reader.skipProlog()
        guard reader.position == bytes.count else { throw .syntax }
        return root
    }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    private var byte: UInt8? { position < bytes.count ? bytes[position] : nil }

    private func sees(_ text: StaticString) -> Bool {
        let wanted = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
        return bytes[position...].starts(with: wanted)
    }

    private mutating func take(_ text: StaticString) -> Bool {
        guard sees(text) else { return false }
        position += text.utf8CodeUnitCount
        return true
    }

    private mutating func skipBlanks() {
        while let byte, byte == 32 || byte == 9 || byte == 10 || byte == 13 { position += 1 }
    }

    /// Skips blanks, comments and processing instructions, including the XML declaration.
    private mutating func skipProlog() throws(Problem) {
        while true {
            skipBlanks()
            if take("<!--") {
                try skip(past: "-->")
            } else if take("<?") {
                try skip(past: "?>")
            } else if sees("<!") {
                throw .documentType
            } else {
                return
            }
        }
    }

    /// Returns the bytes before `end` and skips `end` itself.
    @discardableResult
    private mutating func skip(past end: StaticString) throws(Problem) -> ArraySlice<UInt8> {
        let start = position
        while position < bytes.count {
            if bytes[position] == end.utf8Start[0], sees(end) {
                defer { position += end.utf8CodeUnitCount }
                return bytes[start..<position]
            }
            position += 1
        }
        throw .syntax
    }

    /// Reads a name with at most one prefix, so that the local part is a valid name too.
    private mutating func name() throws(Problem) -> String {
        let start = position
        while let byte, Self.isNameByte(byte) { position += 1 }
        let parts = bytes[start..<position].split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        // No part of a name may begin with '-', '.' or a digit.
        guard parts.count <= 2, parts.allSatisfy({ $0.first.map { !(45...57 ~= $0) } ?? false }) else { throw .syntax }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 48...58, 65...90, 97...122, UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."), 128...: true
        default: false
        }
    }

    private mutating func element(depth: Int) throws(Problem) -> XMLElement {
        guard depth < Self.depthMax else { throw .tooDeep }
        guard take("<") else { throw .syntax }
        var element = XMLElement(name: try name())
        while true {
            let before = position
            skipBlanks()
            if take("/>") { return element }
            if take(">") { break }
            guard position > before else { throw .syntax }
            guard element.attributes.count < Self.attributesMax else { throw .tooManyAttributes }
            let attribute = XMLElement.Attribute(name: try name(), value: try attributeValue())
            guard !element.attributes.contains(where: { $0.name == attribute.name }) else { throw .syntax }
            element.attributes.append(attribute)
        }
        try content(of: &element, depth: depth)
        guard try name() == element.name else { throw .syntax }
        skipBlanks()
        guard take(">") else { throw .syntax }
        return element
    }

    private mutating func attributeValue() throws(Problem) -> String {
        skipBlanks()
        guard take("=") else { throw .syntax }
        skipBlanks()
        guard let quote = byte, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else { throw .syntax }
        position += 1
        let value = try characters(until: quote)
        guard byte == quote else { throw .syntax }
        position += 1
        return value
    }

    /// Reads everything up to and including the `</` of the end tag.
    private mutating func content(of element: inout XMLElement, depth: Int) throws(Problem) {
        var text = ""
        while let byte {
            guard byte == UInt8(ascii: "<") else {
                text += try characters(until: UInt8(ascii: "<"))
                continue
            }
            if take("<![CDATA[") {
                let data = try skip(past: "]]>")
                guard !data.contains(where: Self.isControl) else { throw .syntax }
                text += String(decoding: data, as: UTF8.self)
                continue
            } else if take("<!--") {
                try skip(past: "-->")
                continue
            } else if take("<?") {
                try skip(past: "?>")
                continue
            }
            if !text.isEmpty { element.children.append(.text(text)) }
            text = ""
            if take("</") { return }
            element.children.append(.element(try self.element(depth: depth + 1)))
        }
        throw .syntax
    }

    /// Character data with its references resolved; stops before `end`.
    private mutating func characters(until end: UInt8) throws(Problem) -> String {
        var out: [UInt8] = []
        while let byte, byte != end {
            position += 1
            switch byte {
            case UInt8(ascii: "&"): out.append(contentsOf: try reference().utf8)
            case UInt8(ascii: "<"): throw .syntax
            case let byte where Self.isControl(byte): throw .syntax
            default: out.append(byte)
            }
        }
        return String(decoding: out, as: UTF8.self)
    }

    /// True for control characters that are invalid in a text, even as a character reference.
    private static func isControl(_ byte: UInt8) -> Bool { byte < 32 && byte != 9 && byte != 10 && byte != 13 }

    private mutating func reference() throws(Problem) -> String {
        let start = position
        while let byte, byte != UInt8(ascii: ";"), position - start < 10 { position += 1 }
        guard byte == UInt8(ascii: ";") else { throw .syntax }
        let name = String(decoding: bytes[start..<position], as: UTF8.self)
        position += 1
        guard let scalar = XMLText.scalar(named: name), scalar.value >= 32 || [9, 10, 13].contains(scalar.value)
        else { throw .syntax }
        return String(scalar)
    }
}
