import Testing

@testable import HubIO

@Suite struct FieldBytesTests {
    /// Texts are tested eight bytes at a time. These are all places in texts of about that length.
    private static let places = (1...17).flatMap { length in (0..<length).map { (length: length, place: $0) } }

    @Test(arguments: [UInt8(ascii: "a"), 0x09, 0x7F, 0x80])
    func `each byte of a text is checked in every place`(others: UInt8) {
        let (othersAreContent, othersArePrintable) = (others != 0x7F, others < 0x7F)
        for (length, place) in Self.places {
            for byte in UInt8.min...UInt8.max {
                var text = [UInt8](repeating: others, count: length)
                text[place] = byte
                let isContent = byte == 0x09 || byte >= 0x20 && byte != 0x7F
                let isPrintable = byte == 0x09 || (0x20...0x7E).contains(byte)
                #expect(text.isFieldContent == (isContent && (othersAreContent || length == 1)), "\(text)")
                #expect(text.isPrintableASCII == (isPrintable && (othersArePrintable || length == 1)), "\(text)")
            }
        }
    }

    @Test func `a token has letters, digits and fifteen marks`() {
        let marks = "!#$%&'*+-.^_`|~".utf8
        for byte in UInt8.min...UInt8.max {
            let isLetterOrDigit =
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
                default: false
                }
            #expect([byte].isToken == (isLetterOrDigit || marks.contains(byte)), "\(byte)")
        }
        #expect(![UInt8]().isToken)
    }

    @Test func `a name is in lower case if it has neither capital letters nor control characters, in every place`() {
        for (length, place) in Self.places {
            for byte in UInt8.min...0x7F {
                var text = [UInt8](repeating: UInt8(ascii: "-"), count: length)
                text[place] = byte
                #expect(text.span.isInLowerCase == (byte & 0x20 != 0), "\(text)")
            }
        }
    }

    @Test func `words are equal in any case, and unequal if one letter differs`() {
        let words: [StaticString] = ["close", "location", "retry-after", "x-ms-correlation-request-id"]
        for word in words {
            var bytes = Array("\(word)".uppercased().utf8)
            #expect(bytes.equals(word))
            #expect(!Array(bytes.dropLast()).equals(word))
            for index in bytes.indices {
                bytes[index] ^= 1
                #expect(!bytes.equals(word), "\(word) at \(index)")
                bytes[index] ^= 1
            }
        }
    }
}

/// A macro cannot use a span, so these helpers take arrays.
extension [UInt8] {
    fileprivate var isFieldContent: Bool { span.isFieldContent }
    fileprivate var isPrintableASCII: Bool { span.isPrintableASCII }
    fileprivate var isToken: Bool { span.isToken }
    fileprivate func equals(_ word: StaticString) -> Bool { span.equals(word) }
}
