import ByteText
import Testing

@Test(arguments: 0..<40)
func `a word finds a byte wherever it stands, and no other`(count: Int) {
    for special: UInt8 in [0x00, 0x1F, 0x20, 0x21, 0x22, 0x23, 0x7E, 0x7F, 0x80, 0x9F, 0xA2, 0xFF] {
        for place in 0..<max(count, 1) {
            // Neighbours whose borrow or sign bit could look like a match.
            for filler: UInt8 in [0x20, 0x7E, 0x80, 0xFF] {
                var bytes = [UInt8](repeating: filler, count: count)
                if count > 0 { bytes[place] = special }
                bytes.withUnsafeBufferPointer { text in
                    #expect(ByteWords.any(in: text) { $0.hasByte(below: 0x20) } == bytes.contains { $0 < 0x20 })
                    #expect(ByteWords.any(in: text) { $0.hasByte(0x22) } == bytes.contains(0x22))
                    #expect(ByteWords.any(in: text) { $0.hasByte(0x7F) } == bytes.contains(0x7F))
                }
            }
        }
    }
}

@Test func `bytes grow beyond their first room, and numbers are written in decimal`() {
    let powers = (0..<20).map { power in (0..<power).reduce(into: UInt64(1)) { number, _ in number *= 10 } }
    let numbers = [0, .max, UInt64(Int64.max) + 1] + powers.flatMap { [$0 - 1, $0, $0 + 1] }
    var bytes = GrowingBytes(capacity: 1)
    for number in numbers {
        bytes.append(decimal: number)
        bytes.append(" ")
    }
    #expect(Array(bytes.bytes) == Array(numbers.map { "\($0) " }.joined().utf8))
    bytes.removeAll()
    for number: Int64 in [.min, -1, 0, .max] { bytes.append(decimal: number) }
    #expect(String(decoding: bytes.bytes, as: UTF8.self) == "\(Int64.min)-10\(Int64.max)")
    bytes.removeAll()
    bytes.append("a text" as String)
    bytes.append(room: 4) { _ in 9 }
    #expect(bytes.count == 10)
}
