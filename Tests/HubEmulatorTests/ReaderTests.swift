import NotificationHub
import Testing

@testable import HubEmulator

struct ReaderTests {
    @Test(arguments: [
        #"{"a":[1,-0.5e+3,true,null,"x"]}"#, #""é😀""#, "[]", "{}", "0", #""\"\\\n""#,
    ])
    func `JSON reads back as written`(text: String) throws {
        let value = try JSONReader.read(Array(text.utf8))
        #expect(String(decoding: value.bytes, as: UTF8.self) == text)
    }

    @Test(arguments: [(#""\u00e9\ud83d\ude00""#, "é😀"), (#""\ud83d""#, "\u{fffd}"), (#""\/\b""#, "/\u{8}")])
    func `escapes are resolved`(text: String, meaning: String) throws {
        #expect(try JSONReader.read(Array(text.utf8)).string == meaning)
    }

    @Test(arguments: [
        "", " ", "{", "[1,]", "{\"a\":}", "{a:1}", "01", "1.", "--1", "tru", "\"\t\"", "\"\\x\"", "1 2", "\"\\u12\"",
        String(repeating: "[", count: 10_000),
    ])
    func `anything but JSON is refused`(text: String) {
        #expect(throws: JSONReader.Problem.self) { try JSONReader.read(Array(text.utf8)) }
    }

    @Test
    func `XML is read with references, CDATA and prefixes`() throws {
        let text =
            "<?xml version='1.0' encoding='utf-16'?><!-- c --><n:a xmlns:n=\"u\" k='&lt;1&#x41;'>t&amp;<b/><![CDATA[<&>]]></n:a>"
        let element = try XMLReader.read(Array(text.utf8))
        #expect(element.localName == "a")
        #expect(element.attribute("k") == "<1A")
        #expect(element.text == "t&<&>")
        #expect(element.markup == "<n:a xmlns:n=\"u\" k=\"&lt;1A\">t&amp;<b/>&lt;&amp;&gt;</n:a>")
    }

    @Test(arguments: [
        "", "text", "<a>", "<a></b>", "<a/><b/>", "<a b=c/>", "<a b='1' b='2'/>", "<a>&unknown;</a>", "<a>&#0;</a>",
        "<!DOCTYPE a [<!ENTITY x 'y'>]><a>&x;</a>", "<a:/>", "<:a/>", "<x:1a/>", "<x:-a/>", "<a:b:c/>", "<a b:='1'/>",
        "<a><![CDATA[x</a>", "<a><![CDATA[\u{1}]]></a>", "<1a/>", "<a b='<'/>", "<a\u{1}/>",
        String(repeating: "<a>", count: 10_000),
    ])
    func `anything but well-formed XML is refused`(text: String) {
        #expect(throws: XMLReader.Problem.self) { try XMLReader.read(Array(text.utf8)) }
    }

    @Test
    func `an element has a bounded number of attributes`() throws {
        let element = { (count: Int) in "<a " + (0..<count).map { "a\($0)=''" }.joined(separator: " ") + "/>" }
        #expect(try XMLReader.read(Array(element(64).utf8)).attributes.count == 64)
        #expect(throws: XMLReader.Problem.tooManyAttributes) { try XMLReader.read(Array(element(65).utf8)) }
    }

    @Test
    func `a bounded log drops the oldest entries by count and by weight`() {
        var log = BoundedLog<Int>(countMax: 3, weightMax: 10)
        for value in 1...5 { log.append(value) }
        #expect(log.entries(after: 0, limit: 9).map(\.entry) == [3, 4, 5])
        log.append(6, weight: 9)
        #expect(log.entries(after: 0, limit: 9).map(\.number) == [5, 6])
        log.append(7, weight: 100)
        #expect(log.entries(after: 6, limit: 9).map(\.entry) == [7])
        #expect(log[6] == nil && log[7] == 7 && log.total == 7)
    }
}
