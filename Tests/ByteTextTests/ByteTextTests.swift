import ByteText
import Testing

// MARK: - Base64, RFC 4648 §10

let base64Vectors = [
    ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
    ("foobar", "Zm9vYmFy"),
]

@Test(arguments: base64Vectors)
func `base64 is written and read with its padding`(plain: String, coded: String) {
    #expect(Base64.encode(plain.utf8) == coded)
    #expect(Base64.decode(coded) == Array(plain.utf8))
}

@Test func `every byte survives base64 at every place of a group`() {
    let all = Array(UInt8.min ... .max)
    for offset in 0..<3 {
        let bytes = Array(all.dropFirst(offset))
        #expect(Base64.decode(Base64.encode(bytes)) == bytes)
    }
    #expect(Base64.encode([0xFB, 0xEF, 0xFF]) == "++//")
}

@Test(arguments: ["A", "AB", "ABC", "AB=C", "A===", "====", "AB==AB==", "AB C", "AB-_", "Zm9v\n", "Zm9é"])
func `text that is not base64 is refused`(text: String) {
    #expect(Base64.decode(text) == nil)
}

// MARK: - Percent-encoding, RFC 3986 §2

@Test(arguments: [("", ""), ("aZ09-._~", "aZ09-._~"), ("a b/c%", "a%20b%2Fc%25"), ("+=", "%2B%3D"), ("é", "%C3%A9")])
func `everything but unreserved characters is percent-encoded`(plain: String, coded: String) {
    #expect(plain.percentEncoded == coded)
    #expect(coded.percentDecoded() == plain)
}

@Test(arguments: ["%", "%4", "%4g", "a%", "%ff", "%C3x"])
func `a broken escape, or one that makes no UTF-8, is refused`(text: String) {
    #expect(text.percentDecoded() == nil)
}

@Test func `a plus is a space only in the query of a form`() {
    #expect("a+b%2b".percentDecoded() == "a+b+")
    #expect("a+b%2b".percentDecoded(plusIsSpace: true) == "a b+")
}

// MARK: - ASCII

@Test func `case is ignored for ASCII letters alone`() {
    #expect("Content-Type".equalsIgnoringASCIICase("content-tYPE"))
    #expect(!"[".equalsIgnoringASCIICase("{"))
    #expect(!"\u{212A}".equalsIgnoringASCIICase("k"))
    #expect(!"ab".equalsIgnoringASCIICase("abc"))
    #expect("X-WNS-Type".hasPrefixIgnoringASCIICase("x-wns-"))
    #expect(!"X-W".hasPrefixIgnoringASCIICase("x-wns-"))
    #expect("ÀBC".asciiLowercased == "Àbc")
}

@Test(arguments: [
    ("", ""), ("  ", ""), (" a b\r\n", "a b"), ("\u{A0}a\u{3000}", "a"), (" \u{301}a", "\u{301}a"), ("a", "a"),
])
func `white space is trimmed at both ends`(text: String, trimmed: String) {
    #expect(text.trimmed.utf8.elementsEqual(trimmed.utf8))
}

@Test func `hexadecimal digits are read in either case and written in lower case`() {
    #expect((UInt8.min ... .max).compactMap(\.hexDigitValue).count == 22)
    #expect("0129afAF".utf8.compactMap(\.hexDigitValue) == [0, 1, 2, 9, 10, 15, 10, 15])
    #expect(UInt64(0x0123_4567_89AB_CDEF).hexDigits == "0123456789abcdef")
    #expect(UInt64.max.hexDigits == "ffffffffffffffff")
}

// MARK: - Chance

/// The first numbers of the reference implementation (Vigna, splitmix64.c) for the seed 1234567.
@Test func `the seeded generator is SplitMix64`() {
    var random = SeededRandom(seed: 1_234_567)
    let expected: [UInt64] = [
        6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423,
    ]
    #expect(expected.map { _ in random.next() } == expected)
}

// MARK: - Cutting

@Test func `text is cut between characters of Unicode`() {
    #expect("aé😀".cut(toBytes: 7) == "aé😀")
    #expect("aé😀".cut(toBytes: 6) == "aé")
    #expect("aé😀".cut(toBytes: 2) == "a")
    #expect("aé😀".cut(toBytes: -1) == "")
}
