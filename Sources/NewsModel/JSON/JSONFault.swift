/// The problem in bytes that the parser refused, and its position. Used only after a refusal, so it may be slow. It
/// takes one pass without recursion.
struct JSONFault {
    private(set) var undecodable: Undecodable

    /// - Parameter start: the first byte to read; offsets count from the beginning of `bytes`.
    init(in bytes: UnsafeBufferPointer<UInt8>, from start: Int, depthMax: Int) {
        if let offset = Self.invalidUTF8(in: bytes) {
            undecodable = Undecodable(.invalidUTF8, "the document is not UTF-8: byte \(offset) belongs to no character")
            return
        }
        var scanner = Scanner(bytes: bytes, position: start, depthMax: depthMax)
        // The grammar permits the document, so the cause is the limit that only the parser has.
        undecodable =
            scanner.fault()
            ?? Undecodable(.numberOutOfRange, "the document contains a number that does not fit 64 bits")
    }

    private static func invalidUTF8(in bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        var codec = UTF8()
        var iterator = bytes.makeIterator()
        var offset = 0
        while true {
            switch codec.decode(&iterator) {
            case .scalarValue(let scalar): offset += UTF8.width(scalar)
            case .emptyInput: return nil
            case .error: return offset
            }
        }
    }
}

/// Checks the grammar of RFC 8259 up to the first invalid byte.
private struct Scanner {
    let bytes: UnsafeBufferPointer<UInt8>
    var position: Int
    let depthMax: Int
    /// The closing bracket of every open array and object.
    private var open: [UInt8] = []

    private enum Expected { case value, elementOrEnd, nameOrEnd, name, colon, commaOrEnd }

    init(bytes: UnsafeBufferPointer<UInt8>, position: Int, depthMax: Int) {
        self.bytes = bytes
        self.position = position
        self.depthMax = depthMax
    }

    mutating func fault() -> Undecodable? {
        var expected = Expected.value
        var isBlank = true
        while let byte = nextVisible() {
            isBlank = false
            let problem: Undecodable?
            (expected, problem) = step(over: byte, expecting: expected)
            if let problem { return problem }
        }
        if isBlank { return Undecodable(.empty, "the record's value contains only white space") }
        return open.isEmpty ? nil : truncated
    }

    private mutating func step(over byte: UInt8, expecting expected: Expected) -> (Expected, Undecodable?) {
        switch (expected, byte) {
        case (.commaOrEnd, _) where open.isEmpty:
            return (expected, unexpected("something follows the document"))
        case (.elementOrEnd, UInt8(ascii: "]")), (.nameOrEnd, UInt8(ascii: "}")):
            return close()
        case (.commaOrEnd, UInt8(ascii: "]")), (.commaOrEnd, UInt8(ascii: "}")):
            return open.last == byte ? close() : (expected, unexpected("the wrong closing bracket"))
        case (.commaOrEnd, UInt8(ascii: ",")):
            position += 1
            return (open.last == UInt8(ascii: "}") ? .name : .value, nil)
        case (.colon, UInt8(ascii: ":")):
            position += 1
            return (.value, nil)
        case (.name, UInt8(ascii: "\"")), (.nameOrEnd, UInt8(ascii: "\"")):
            return (.colon, string())
        case (.value, _), (.elementOrEnd, _):
            return value(startingWith: byte)
        case (.name, _), (.nameOrEnd, _): return (expected, unexpected("a name in quotes is missing"))
        case (.colon, _): return (expected, unexpected("a colon is missing"))
        case (.commaOrEnd, _): return (expected, unexpected("a comma or a closing bracket is missing"))
        }
    }

    private mutating func close() -> (Expected, Undecodable?) {
        open.removeLast()
        position += 1
        return (.commaOrEnd, nil)
    }

    private mutating func value(startingWith byte: UInt8) -> (Expected, Undecodable?) {
        switch byte {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            guard open.count < depthMax else {
                let detail = "more than \(depthMax) arrays and objects are nested at byte \(position)"
                return (.value, Undecodable(.tooDeep, detail))
            }
            let isObject = byte == UInt8(ascii: "{")
            open.append(UInt8(ascii: isObject ? "}" : "]"))
            position += 1
            return (isObject ? .nameOrEnd : .elementOrEnd, nil)
        case UInt8(ascii: "\""): return (.commaOrEnd, string())
        default: return (.commaOrEnd, word())
        }
    }

    /// A number, `true`, `false` or `null`: everything up to the next delimiter.
    private mutating func word() -> Undecodable? {
        let start = position
        while position < bytes.count, !Self.ends(bytes[position]) { position += 1 }
        let word = bytes[start..<position]
        let number = word.reduce(NumberPart.start as NumberPart?) { $0?.next($1) }
        if number?.isLast ?? false || Self.literals.contains(where: { $0.utf8.elementsEqual(word) }) { return nil }
        let mayGoOn = number != nil || Self.literals.contains { $0.utf8.starts(with: word) }
        if position == bytes.count, mayGoOn, !word.isEmpty { return truncated }
        position = start
        return unexpected("no JSON value begins")
    }

    private static let literals = ["true", "false", "null"]

    private mutating func string() -> Undecodable? {
        position += 1
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                position += 1
                return nil
            case UInt8(ascii: "\\"):
                if let problem = escape() { return problem }
            case 0..<0x20: return unexpected("a string contains an unescaped control character")
            default: position += 1
            }
        }
        return truncated
    }

    private mutating func escape() -> Undecodable? {
        guard position + 1 < bytes.count else { return truncated }
        guard bytes[position + 1] == UInt8(ascii: "u") else {
            guard "\"\\/bfnrt".utf8.contains(bytes[position + 1]) else { return unexpected("an escape is unknown") }
            position += 2
            return nil
        }
        guard position + 6 <= bytes.count else { return truncated }
        guard let unit = codeUnit(at: position) else {
            return unexpected("\\u is not followed by four hexadecimal digits")
        }
        if UTF16.isTrailSurrogate(unit) { return unexpected("an unpaired surrogate") }
        guard UTF16.isLeadSurrogate(unit) else {
            position += 6
            return nil
        }
        guard let second = codeUnit(at: position + 6), UTF16.isTrailSurrogate(second) else {
            return position + 6 >= bytes.count ? truncated : unexpected("an unpaired surrogate")
        }
        position += 12
        return nil
    }

    private func codeUnit(at offset: Int) -> UInt16? {
        guard offset + 6 <= bytes.count, bytes[offset] == UInt8(ascii: "\\"), bytes[offset + 1] == UInt8(ascii: "u")
        else { return nil }
        let digits = bytes[(offset + 2)..<(offset + 6)]
        guard digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }) else { return nil }
        return UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
    }

    private mutating func nextVisible() -> UInt8? {
        while position < bytes.count {
            let byte = bytes[position]
            guard byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D else { return byte }
            position += 1
        }
        return nil
    }

    private static func ends(_ byte: UInt8) -> Bool {
        byte <= 0x20 || ",:[]{}\"".utf8.contains(byte)
    }

    private var truncated: Undecodable {
        Undecodable(.truncatedJSON, "the document ends at byte \(bytes.count), before it is complete")
    }

    private func unexpected(_ what: String) -> Undecodable {
        Undecodable(.invalidJSON, "the document is not JSON: \(what) at byte \(position)")
    }
}

/// The last part of a number that was read. RFC 8259 §6.
private enum NumberPart {
    case start, minus, zero, integer, point, fraction, exponent, sign, power

    /// True if the number may end here.
    var isLast: Bool {
        switch self {
        case .zero, .integer, .fraction, .power: true
        case .start, .minus, .point, .exponent, .sign: false
        }
    }

    /// - Returns: `nil` if the byte cannot follow.
    func next(_ byte: UInt8) -> NumberPart? {
        switch (self, byte) {
        case (.start, UInt8(ascii: "-")): .minus
        case (.start, UInt8(ascii: "0")), (.minus, UInt8(ascii: "0")): .zero
        case (.zero, UInt8(ascii: ".")), (.integer, UInt8(ascii: ".")): .point
        case (.zero, UInt8(ascii: "e")), (.integer, UInt8(ascii: "e")), (.fraction, UInt8(ascii: "e")),
            (.zero, UInt8(ascii: "E")), (.integer, UInt8(ascii: "E")), (.fraction, UInt8(ascii: "E")):
            .exponent
        case (.exponent, UInt8(ascii: "+")), (.exponent, UInt8(ascii: "-")): .sign
        case (_, UInt8(ascii: "0")...UInt8(ascii: "9")): afterDigit
        default: nil
        }
    }

    private var afterDigit: NumberPart? {
        switch self {
        case .start, .minus, .integer: .integer
        case .point, .fraction: .fraction
        case .exponent, .sign, .power: .power
        case .zero: nil
        }
    }
}
