import Foundation
import NewsModel
import Testing

private func written(_ body: (inout JSONWriter) -> Void) -> String {
    var bytes: [UInt8] = []
    JSONWriter.write(into: &bytes, body)
    return String(decoding: bytes, as: UTF8.self)
}

@Test func `objects and arrays nest with their commas in place`() {
    let text = written { json in
        json.object { json in
            json.field("a", 1)
            json.field("b", nil as String?)
            json.field("c", "x")
            json.array("d") { json in
                json.value(true)
                json.object { _ in }
                json.array { $0.null() }
                json.value(-7)
            }
            json.object("e") { $0.field("f", false) }
            json.null("g")
            json.name("h")
            json.raw("[1]".utf8)
            json.array("i", of: [])
        }
    }
    #expect(text == #"{"a":1,"c":"x","d":[true,{},[null],-7],"e":{"f":false},"g":null,"h":[1],"i":[]}"#)
}

@Test func `written values are appended`() {
    var bytes = Array("before ".utf8)
    JSONWriter.write(into: &bytes) { $0.value("x") }
    #expect(String(decoding: bytes, as: UTF8.self) == #"before "x""#)
    #expect(JSONWriter.object { $0.field("n", 0) } == Array(#"{"n":0}"#.utf8))
}

@Test(
    arguments: [
        (.zero, "0"), (.milliseconds(12), "12"), (.microseconds(12_345), "12.345"), (.microseconds(10), "0.01"),
        (.microseconds(12_300), "12.3"), (.nanoseconds(1_999), "0.001"), (.microseconds(-1_500), "-1.5"),
        (.seconds(86_400), "86400000"),
    ] as [(Duration, String)])
func `milliseconds have up to three decimals`(duration: Duration, text: String) {
    #expect(written { $0.value(milliseconds: duration) } == text)
}

@Test func `numbers are JSON numbers`() {
    #expect(written { $0.value(Int64.min) } == "-9223372036854775808")
    #expect(written { $0.value(Int64.max) } == "9223372036854775807")
    #expect(written { $0.value(1.5) } == "1.5")
    #expect(written { $0.value(Double.infinity) } == "null")
    #expect(written { $0.value(Double.nan) } == "null")
}

@Test func `every Unicode scalar survives writing and reading`() throws {
    var bytes: [UInt8] = []
    let texts = stride(from: UInt32(0), through: 0x10FFFF, by: 64).map { start in
        String(String.UnicodeScalarView((start..<(start + 64)).compactMap { Unicode.Scalar($0) }))
    }
    JSONWriter.write(into: &bytes) { json in
        json.array { json in
            for text in texts { json.value(text) }
        }
    }
    let parsed = try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String])
    // Compared by scalars: Swift's own comparison would accept canonically equivalent texts.
    #expect(parsed.map { Array($0.unicodeScalars) } == texts.map { Array($0.unicodeScalars) })
}

@Test(arguments: [
    ("\"quoted\"", #""\"quoted\"""#), ("back\\slash", #""back\\slash""#), ("\u{0}\u{1F}", #""\u0000\u001f""#),
    ("\u{8}\t\n\u{C}\r", #""\b\t\n\f\r""#), ("", #""""#), ("a/b", #""a/b""#), ("\\", #""\\""#), ("é\"👩‍👩‍👧", #""é\"👩‍👩‍👧""#),
])
func `only characters that need an escape get one`(text: String, json: String) {
    #expect(written { $0.value(text) } == json)
}
