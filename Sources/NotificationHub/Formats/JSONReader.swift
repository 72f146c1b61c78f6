import ByteText

/// Reads one JSON text strictly: RFC 8259, valid UTF-8, nothing after the value.
package struct JSONReader {
    /// The deepest nesting. Deeper texts are refused, so that reading cannot exhaust the stack.
    static let depthMax = 64

    /// The reason why a text is not JSON. The raw value is the hub's message.
    package enum Problem: String, Error {
        case notUTF8 = "The body is not valid UTF-8"
        case syntax = "The body is not valid JSON"
        case tooDeep = "The body is nested too deeply"
    }

    private let bytes: [UInt8]
    private var position = 0

    package static func read(_ bytes: [UInt8]) throws(Problem) -> JSONTree {
        guard String(validating: bytes, as: UTF8.self) != nil else { throw .notUTF8 }
        var reader = JSONReader(bytes: bytes)
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { reader.position = 3 }
        let value = try reader.value(depth: 0)
        reader.skipBlanks()
        guard reader.position == bytes.count else { throw .syntax }
        return value
    }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    private var byte: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipBlanks() {
        while let byte, byte == 32 || byte == 9 || byte == 10 || byte == 13 { position += 1 }
    }

    private mutating func value(depth: Int) throws(Problem) -> JSONTree {
        guard depth < Self.depthMax else { throw .tooDeep }
        skipBlanks()
        switch byte {
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["): return try array(depth: depth)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return .number(try number())
        }
    }

    private mutating func word(_ text: String, _ value: JSONTree) throws(Problem) -> JSONTree {
        guard bytes[position...].starts(with: text.utf8) else { throw .syntax }
        position += text.utf8.count
        return value
    }

    private mutating func object(depth: Int) throws(Problem) -> JSONTree {
        position += 1
        var members: [JSONTree.Member] = []
        skipBlanks()
        if take(UInt8(ascii: "}")) { return .object(members) }
        while true {
            skipBlanks()
            guard byte == UInt8(ascii: "\"") else { throw .syntax }
            let name = try string()
            skipBlanks()
            guard take(UInt8(ascii: ":")) else { throw .syntax }
            members.append(JSONTree.Member(name, try value(depth: depth + 1)))
            skipBlanks()
            if take(UInt8(ascii: ",")) { continue }
            guard take(UInt8(ascii: "}")) else { throw .syntax }
            return .object(members)
        }
    }

    private mutating func array(depth: Int) throws(Problem) -> JSONTree {
        position += 1
        var values: [JSONTree] = []
        skipBlanks()
        if take(UInt8(ascii: "]")) { return .array(values) }
        while true {
            values.append(try value(depth: depth + 1))
            skipBlanks()
            if take(UInt8(ascii: ",")) { continue }
            guard take(UInt8(ascii: "]")) else { throw .syntax }
            return .array(values)
        }
    }

    private mutating func take(_ wanted: UInt8) -> Bool {
        guard byte == wanted else { return false }
        position += 1
        return true
    }

    private mutating func string() throws(Problem) -> String {
        position += 1
        let start = position
        while let byte, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20 { position += 1 }
        if byte == UInt8(ascii: "\"") {
            position += 1
            return String(decoding: bytes[start..<position - 1], as: UTF8.self)
        }
        var text = Array(bytes[start..<position])
        while let byte {
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"): try escape(into: &text)
            case 0..<0x20: throw .syntax
            default: text.append(byte)
            }
        }
        throw .syntax
    }

    private mutating func escape(into text: inout [UInt8]) throws(Problem) {
        guard let byte else { throw .syntax }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"):
            let unit = try hex4()
            var code = UInt32(unit)
            if 0xD800...0xDBFF ~= unit, bytes[position...].starts(with: [0x5C, 0x75]) {
                let mark = position
                position += 2
                let low = try hex4()
                if 0xDC00...0xDFFF ~= low {
                    code = 0x10000 + (UInt32(unit) - 0xD800) << 10 + (UInt32(low) - 0xDC00)
                } else {
                    position = mark
                }
            }
            // Half a surrogate pair is not a character; it is read as the replacement character.
            text.append(contentsOf: String(Unicode.Scalar(code) ?? "\u{FFFD}").utf8)
        default: throw .syntax
        }
    }

    private mutating func hex4() throws(Problem) -> UInt16 {
        guard bytes.count - position >= 4 else { throw .syntax }
        var unit: UInt16 = 0
        for byte in bytes[position..<position + 4] {
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { throw .syntax }
            unit = unit << 4 | UInt16(digit)
        }
        position += 4
        return unit
    }

    private mutating func number() throws(Problem) -> String {
        let start = position
        _ = take(UInt8(ascii: "-"))
        if !take(UInt8(ascii: "0")) { try digits() }
        if take(UInt8(ascii: ".")) { try digits() }
        if byte == UInt8(ascii: "e") || byte == UInt8(ascii: "E") {
            position += 1
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            try digits()
        }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private mutating func digits() throws(Problem) {
        let start = position
        while let byte, 48...57 ~= byte { position += 1 }
        guard position > start else { throw .syntax }
    }
}

extension JSONTree {
    /// Reads one JSON text; `nil` for anything else, and for values nested more than 64 deep.
    package init?(parsing bytes: [UInt8]) {
        guard let value = try? JSONReader.read(bytes) else { return nil }
        self = value
    }
}
