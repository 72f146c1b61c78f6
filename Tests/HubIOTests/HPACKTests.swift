import ByteText
import Testing

@testable import HubIO

private struct Collected: FieldReceiver {
    var fields: [[String]] = []

    mutating func receive(name: Span<UInt8>, value: Span<UInt8>) { fields.append([name.text, value.text]) }
}

@Suite struct HPACKTests {
    private func decode(_ block: [UInt8]) -> [[String]]? {
        var decoder = HubIO.HPACKDecoder()
        var collected = Collected()
        return decoder.decode(block.span, into: &collected) ? collected.fields : nil
    }

    private func decode(hex: String) -> [[String]]? { decode(bytes(hex)) }

    private func bytes(_ hex: String) -> [UInt8] {
        let digits = hex.utf8.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    // RFC 7541 appendix C: the examples that need no dynamic table.
    @Test(arguments: [
        ("400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572", [["custom-key", "custom-header"]]),
        ("040c 2f73 616d 706c 652f 7061 7468", [[":path", "/sample/path"]]),
        ("1008 7061 7373 776f 7264 0673 6563 7265 74", [["password", "secret"]]),
        ("82", [[":method", "GET"]]),
        (
            "8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d",
            [[":method", "GET"], [":scheme", "http"], [":path", "/"], [":authority", "www.example.com"]]
        ),
        (
            "8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff",
            [[":method", "GET"], [":scheme", "http"], [":path", "/"], [":authority", "www.example.com"]]
        ),
        ("5886 a8eb 1064 9cbf", [["cache-control", "no-cache"]]),
        ("4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf", [["custom-key", "custom-value"]]),
        (
            "4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff",
            [[":status", "302"], ["cache-control", "private"], ["date", "Mon, 21 Oct 2013 20:13:21 GMT"]]
        ),
        ("20 82", [[":method", "GET"]]), ("20 20 82", [[":method", "GET"]]), ("20", []), ("", []),
    ])
    func `an example of the RFC decodes to its fields`(hex: String, fields: [[String]]) {
        #expect(decode(hex: hex) == fields)
        for end in 0..<bytes(hex).count { _ = decode(Array(bytes(hex).prefix(end))) }
    }

    @Test(arguments: [
        "80",  // index 0
        "be", "ff00", "ff ffff ffff ffff ff7f",  // beyond the static table
        "7e00 00", "0f2f 00",  // a name beyond the static table
        "21", "3fe11f",  // a table larger than 0
        "82 20",  // a size update within a block
        "40", "4001", "400161", "40016102", "0f", "ff",  // truncated
        "0f80 8080 8001",  // an integer without end
        "0081 ff 00", "0082 ffff 00",  // the end-of-string code, and padding of a byte
        "0081 00 00",  // padding of zeros
        "0084 ffff fffc 00",  // the end-of-string code
        "007f ffff ffff 0f",  // a length beyond the block
    ])
    func `an invalid block is refused`(hex: String) {
        #expect(decode(hex: hex) == nil)
    }

    @Test func `every scalar up to ÿ survives the Huffman code`() {
        for scalar in (UInt8.min...UInt8.max).map(Unicode.Scalar.init) {
            for length in 1...9 {
                let text = String(String.UnicodeScalarView(repeatElement(scalar, count: length)))
                #expect(decode(encoded([("x", text)])) == [["x", text]])
            }
        }
    }

    @Test(arguments: 0..<4 as Range<UInt64>)
    func `random fields of swift-nio-http2's encoder decode to the same fields`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let names = HPACK.staticTable.dropFirst().map { "\($0.name)" } + ["x-odd", "trackingid"]
        for _ in 0..<500 {
            let fields = (0..<Int.random(in: 0...6, using: &random)).map { _ in
                let scalars = (0..<Int.random(in: 0...40, using: &random)).map { _ in
                    Unicode.Scalar(UInt8.random(in: 0...255, using: &random))
                }
                return (
                    names[Int.random(in: 0..<names.count, using: &random)],
                    String(String.UnicodeScalarView(scalars))
                )
            }
            let block = encoded(fields, huffman: Bool.random(using: &random))
            #expect(decode(block) == fields.map { [$0.0, $0.1] }, "seed \(seed)")
        }
    }

    @Test(arguments: 0..<4 as Range<UInt64>)
    func `random blocks never trap`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        for _ in 0..<5_000 {
            let count = Int.random(in: 0...40, using: &random)
            _ = decode((0..<count).map { _ in UInt8.random(in: 0...255, using: &random) })
        }
    }

    @Test(arguments: [0, 9, 10, 30, 31, 126, 127, 128, 1337, 16_384, 1 << 40])
    func `an integer below 2²⁸ decodes to itself`(value: Int) {
        // The example of RFC 7541 §C.1.2 is 1337 with a prefix of 5 bits.
        #expect(HPACK.integer(1337, prefixBits: 5, pattern: 0x20) == [0x3F, 0x9A, 0x0A])
        let text = String(repeating: "a", count: value < 1 << 28 ? value : 1)
        let length = HPACK.integer(value, prefixBits: 7, pattern: 0)
        let fields = decode([0x00, 0x01, 0x61] + length + text.utf8)
        #expect(fields == (value < 1 << 28 ? [["a", text]] : nil))
    }
}
