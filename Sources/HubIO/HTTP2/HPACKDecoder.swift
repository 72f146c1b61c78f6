/// Receives the fields of a header block in their order.
protocol FieldReceiver {
    /// The spans are valid only during the call. They may hold any bytes.
    mutating func receive(name: Span<UInt8>, value: Span<UInt8>)
}

/// Decodes header blocks (RFC 7541) of a peer to which a dynamic table of size 0 was announced.
struct HPACKDecoder {
    /// Memory for decoded Huffman strings of one block.
    private var text: [UInt8] = []

    /// Decodes a whole block.
    /// - Returns: false if the block is not valid, or refers to a dynamic table. The connection must then end.
    mutating func decode<Receiver: FieldReceiver>(_ block: Span<UInt8>, into receiver: inout Receiver) -> Bool {
        // The shortest Huffman code has 5 bits.
        let textMax = block.count / 5 * 8 + 8
        if text.count < textMax { text = [UInt8](repeating: 0, count: textMax) }
        return text.withUnsafeMutableBufferPointer { text in
            block.withUnsafeBufferPointer { block in
                var cursor = BlockCursor(bytes: block, text: text)
                return cursor.decode(into: &receiver)
            }
        }
    }
}

private struct BlockCursor {
    let bytes: UnsafeBufferPointer<UInt8>
    /// Has room for all strings of the block.
    let text: UnsafeMutableBufferPointer<UInt8>
    private var position = 0

    init(bytes: UnsafeBufferPointer<UInt8>, text: UnsafeMutableBufferPointer<UInt8>) {
        self.bytes = bytes
        self.text = text
    }

    mutating func decode<Receiver: FieldReceiver>(into receiver: inout Receiver) -> Bool {
        var mayUpdateSize = true
        while position < bytes.count {
            let first = bytes[position]
            switch first.leadingZeroBitCount {
            case 0:
                guard let index = integer(prefixBits: 7), let field = Self.entry(index) else { return false }
                receiver.receive(name: field.name.span, value: field.value.span)
            case 2:
                guard mayUpdateSize, integer(prefixBits: 5) == 0 else { return false }
                continue
            default:
                // With a table of size 0, indexing a literal has no effect (RFC 7541 §4.4).
                guard let index = integer(prefixBits: first >= 0x40 ? 6 : 4),
                    let name = name(index), let value = string(after: name.decodedCount)
                else { return false }
                receiver.receive(name: name.bytes.span, value: value.bytes.span)
            }
            mayUpdateSize = false
        }
        return true
    }

    private typealias Text = (bytes: UnsafeBufferPointer<UInt8>, decodedCount: Int)

    private mutating func name(_ index: Int) -> Text? {
        if index == 0 { return string(after: 0) }
        return Self.entry(index).map { ($0.name, 0) }
    }

    private static func entry(
        _ index: Int
    ) -> (name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>)? {
        guard (1...HPACK.staticCount).contains(index) else { return nil }
        let (name, value) = HPACK.staticTable[index]
        return (
            UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount),
            UnsafeBufferPointer(start: value.utf8Start, count: value.utf8CodeUnitCount)
        )
    }

    /// Reads an integer below 2²⁹, RFC 7541 §5.1. `position` must be within the block.
    @inline(__always)
    private mutating func integer(prefixBits: Int) -> Int? {
        let prefixMax = 1 << prefixBits - 1
        var value = Int(bytes[position]) & prefixMax
        position += 1
        guard value == prefixMax else { return value }
        for shift in stride(from: 0, through: 21, by: 7) {
            guard position < bytes.count else { return nil }
            let byte = Int(bytes[position])
            position += 1
            value += (byte & 0x7F) << shift
            if byte & 0x80 == 0 { return value }
        }
        return nil
    }

    /// Reads a string literal, RFC 7541 §5.2.
    /// - Parameter used: bytes at the start of `text` that must stay.
    private mutating func string(after used: Int) -> Text? {
        guard position < bytes.count else { return nil }
        let isCoded = bytes[position] & 0x80 != 0
        guard let length = integer(prefixBits: 7), length <= bytes.count - position else { return nil }
        let raw = UnsafeBufferPointer(rebasing: bytes[position..<(position + length)])
        position += length
        guard isCoded else { return (raw, used) }
        let rest = UnsafeMutableBufferPointer(rebasing: text[used...])
        guard let count = HuffmanCode.shared.decode(raw, into: rest) else { return nil }
        return (UnsafeBufferPointer(rebasing: rest[..<count]), used + count)
    }
}

/// The Huffman code of RFC 7541 appendix B. It is canonical: the lengths alone determine it.
struct HuffmanCode: Sendable {
    static let shared = HuffmanCode()

    /// The code of a byte, for each value of the next 8 bits: its length and the byte. 0 if the code is longer.
    private var short = [UInt16](repeating: 0, count: 256)
    /// All bytes in the order of their codes.
    private var bytes: [UInt8] = []
    /// By length of the code: the first code behind those of this length, moved to the left end of 32 bits.
    private var ends = [UInt64](repeating: 0, count: lengthMax + 1)
    /// By length of the code: the position in `bytes` for a code of 0.
    private var starts = [Int](repeating: 0, count: lengthMax + 1)

    private static let lengthMax = 30

    private init() {
        var next: UInt64 = 0
        for length in 1...Self.lengthMax {
            starts[length] = bytes.count - Int(next >> UInt64(32 - length))
            for byte in 0...255 where Self.lengths[byte] == length {
                if length <= 8 {
                    let first = Int(next >> 24)
                    for index in first..<(first + 1 << (8 - length)) { short[index] = UInt16(length << 8 | byte) }
                }
                bytes.append(UInt8(byte))
                next += 1 << UInt64(32 - length)
            }
            ends[length] = next
        }
    }

    /// Decodes a string.
    /// - Parameter output: has room for 8/5 of the input.
    /// - Returns: the number of decoded bytes, or `nil` if the string is not valid.
    func decode(_ input: UnsafeBufferPointer<UInt8>, into output: UnsafeMutableBufferPointer<UInt8>) -> Int? {
        short.withUnsafeBufferPointer { short in
            // The bits that were read but not decoded, at the left end; zeros follow them.
            var bits: UInt64 = 0
            var bitCount = 0
            var (position, count) = (0, 0)
            while true {
                if bitCount < HuffmanCode.lengthMax {
                    while bitCount <= 56, position < input.count {
                        bits |= UInt64(input[position]) &<< UInt64(56 - bitCount)
                        bitCount += 8
                        position += 1
                    }
                }
                // The padding is less than a byte, and all ones.
                if bitCount < 8, bits == ~(UInt64.max >> UInt64(bitCount)) { return count }
                var entry = short[Int(bits >> 56)]
                if entry == 0 {
                    guard let long = longEntry(bits >> 32) else { return nil }
                    entry = long
                }
                let length = Int(entry >> 8)
                guard length <= bitCount, count < output.count else { return nil }
                output[count] = UInt8(truncatingIfNeeded: entry)
                count += 1
                bits &<<= UInt64(length)
                bitCount -= length
            }
        }
    }

    /// Finds a code of more than 8 bits. The end-of-string code is an error, as is any byte behind it.
    private func longEntry(_ next: UInt64) -> UInt16? {
        for length in 9...Self.lengthMax where next < ends[length] {
            return UInt16(length << 8) | UInt16(bytes[starts[length] + Int(next >> UInt64(32 - length))])
        }
        return nil
    }

    /// The length of each byte's code in bits.
    private static let lengths: [UInt8] = [
        13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28,
        28, 28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15,
        6, 12, 10, 13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
        15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28, 20, 22,
        20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23,
        23, 24, 22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22,
        22, 22, 23, 22, 22, 23, 26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26,
        27, 24, 21, 21, 26, 26, 28, 27, 27, 27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27,
        26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
    ]
}
