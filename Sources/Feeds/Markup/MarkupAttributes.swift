import ByteText

/// The attributes of one tag, in order. Reading stops before the tag's `>`, or before a `<` that interrupts the tag.
struct MarkupAttributes {
    struct Attribute {
        var name: Range<Int>
        var value: Range<Int>
    }

    let bytes: UnsafeBufferPointer<UInt8>
    let end: Int
    private(set) var position: Int
    private(set) var absent: MarkupTokens.Set8
    /// Steps taken by unsuccessful searches.
    private(set) var work = 0

    init(_ bytes: UnsafeBufferPointer<UInt8>, in range: Range<Int>, absent: MarkupTokens.Set8 = []) {
        self.bytes = bytes
        position = range.lowerBound
        end = range.upperBound
        self.absent = absent
    }

    mutating func next() -> Attribute? {
        while position < end {
            switch bytes[position] {
            case UInt8(ascii: ">"), UInt8(ascii: "<"): return nil
            case UInt8(ascii: "="), UInt8(ascii: "/"): position += 1
            case let byte where byte.isMarkupBlank: position += 1
            default: return attribute()
            }
        }
        return nil
    }

    private mutating func attribute() -> Attribute {
        let name = position
        position = bytes.nameEnd(from: name + 1, to: end)
        let nameEnd = position
        skipBlanks()
        guard position < end, bytes[position] == UInt8(ascii: "=") else {
            return Attribute(name: name..<nameEnd, value: nameEnd..<nameEnd)
        }
        position += 1
        skipBlanks()
        return Attribute(name: name..<nameEnd, value: value())
    }

    private mutating func value() -> Range<Int> {
        guard position < end else { return position..<position }
        let quote = bytes[position]
        if quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") {
            let memory: MarkupTokens.Set8 = quote == UInt8(ascii: "\"") ? .doubleQuote : .singleQuote
            if !absent.contains(memory) {
                let start = position + 1
                if let close = bytes.index(of: quote, from: start, to: end) {
                    position = close + 1
                    return start..<close
                }
                work &+= end - start
                absent.insert(memory)
            }
        }
        let start = position
        while position < end {
            let byte = bytes[position]
            if byte.isMarkupBlank || byte == UInt8(ascii: ">") || byte == UInt8(ascii: "<") { break }
            position += 1
        }
        // In `<a href=x/>` the slash closes the element.
        let closes =
            position > start && position < end && bytes[position] == UInt8(ascii: ">")
            && bytes[position - 1] == UInt8(ascii: "/")
        return start..<(closes ? position - 1 : position)
    }

    private mutating func skipBlanks() {
        while position < end, bytes[position].isMarkupBlank { position += 1 }
    }
}
