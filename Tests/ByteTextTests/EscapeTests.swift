import ByteText
import Testing

@Test(arguments: [
    ("", "\"\""), ("plain é😀", "\"plain é😀\""), ("a\"b\\c/", #""a\"b\\c/""#),
    ("\u{8}\t\n\u{C}\r", #""\b\t\n\f\r""#), ("\u{0}x\u{1F}\u{7F}", "\"\\u0000x\\u001f\u{7F}\""),
])
func `a JSON string escapes what RFC 8259 demands and nothing else`(text: String, json: String) {
    var bytes = Array("[".utf8)
    JSONEscaping.append(text, to: &bytes)
    #expect(String(decoding: bytes, as: UTF8.self) == "[" + json)
}

@Test func `a text that needs no escape is written in one piece`() {
    var pieces = 0
    "plain".withBytes { JSONEscaping.escape($0) { _ in pieces += 1 } }
    #expect(pieces == 1)
}

@Test(arguments: [
    ("plain é😀\u{FFFD}", "plain é😀\u{FFFD}", "plain é😀\u{FFFD}"),
    ("a<b>&\"'", "a&lt;b&gt;&amp;&quot;&#39;", "a&lt;b&gt;&amp;\"'"),
    ("]]>", "]]&gt;", "]]&gt;"), ("\t\n\r", "&#9;&#10;&#13;", "\t\n&#13;"),
    ("\u{0}x\u{1F}", "\u{FFFD}x\u{FFFD}", "\u{FFFD}x\u{FFFD}"),
    ("\u{FFFE}a\u{FFFF}", "\u{FFFD}a\u{FFFD}", "\u{FFFD}a\u{FFFD}"),
])
func `XML text is escaped for the place where it stands`(text: String, attribute: String, content: String) {
    #expect(XMLText.escaped(text) == attribute)
    #expect(XMLText.escaped(text, in: .content) == content)
}

@Test func `characters that XML cannot hold can be left out`() {
    #expect(XMLText.escaped("\u{0}a\u{1F}\u{FFFE}b", unwritable: .leftOut) == "ab")
}

@Test func `the cost of a character is what its escape takes`() {
    let scalars = [0..<0x300, 0xFFF0..<0x1_0010, 0x1_F600..<0x1_F602].joined().compactMap { Unicode.Scalar(UInt32($0)) }
    for scalar in scalars {
        #expect(XMLText.cost(scalar) == XMLText.escaped(String(scalar), unwritable: .leftOut).utf8.count)
        var json: [UInt8] = []
        JSONEscaping.append(String(scalar), to: &json)
        #expect(JSONEscaping.cost(scalar) == json.count - 2)
    }
}

@Test(arguments: [
    ("&lt;&gt;&amp;&quot;&apos;", "<>&\"'"), ("&#65;&#x42;&#x1f600;", "AB😀"), ("&amp;lt;", "&lt;"),
    ("&nope; & &#; &#x; &#xD800; &#+65; &#12a; &lt", "&nope; & &#; &#x; &#xD800; &#+65; &#12a; &lt"),
    ("&&amp;", "&&"), ("no reference", "no reference"),
])
func `references are replaced, and what is no reference stays`(text: String, plain: String) {
    #expect(XMLText.replacingReferences(text) == plain)
}

@Test func `an escaped text reads as it was`() {
    let text = "a<b>&\"'\t\n\r é😀 ]]> &amp; &#9;"
    #expect(XMLText.replacingReferences(XMLText.escaped(text)) == text)
    #expect(XMLText.replacingReferences(XMLText.escaped(text, in: .content)) == text)
}
