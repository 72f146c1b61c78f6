import Testing

@testable import Feeds

struct MarkupElementTests {
    private func root(_ text: String) throws -> MarkupElement {
        try #require(MarkupDocument(Array(text.utf8)).root)
    }

    @Test(arguments: [
        ("<a>AT&T says</a>", "AT&T says"), ("<a>5 < 6</a>", "5 < 6"), ("<a>x &amp; y</a>", "x & y"),
        ("<a>&nbsp;&mdash;&rsquo;</a>", "\u{A0}—’"), ("<a>&unknown; &#65;&#x42;&#8;&#xFFFE;</a>", "&unknown; AB"),
        ("<a>&#150;</a>", "–"), ("<a>one<![CDATA[ <two> ]]]]><![CDATA[>three]]></a>", "one <two> ]]>three"),
        ("<a>one<!-- two -->three</a>", "onethree"), ("<a>one<!-- two</a>", "one<!-- two"),
        ("<a>one<b>two</b>three</a>", "onetwothree"), ("<a>x<b y</a>", "x<b y"), ("<a>x\u{8}y\u{FFFF}</a>", "xy"),
        ("<a>&NotEqualTilde;&amp</a>", "\u{2242}\u{338}&amp"), ("<a>&#x110000;&#99999999999999999999;</a>", ""),
        ("<a><?php echo 1 ?>x</a>", "x"), ("<a>x<![CDATA[y", "xy"), ("<a>x", "x"), ("<a>&;&#;&#x;</a>", "&;&#;&#x;"),
    ])
    func `text is never lost`(document: String, text: String) throws {
        #expect(try root(document).text == text)
    }

    @Test func `a document type is skipped with all its declarations`() throws {
        let document = MarkupDocument(
            Array(#"<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x "<b>]>"> <!-- don't ]> -->]><a>&x;</a>"#.utf8))
        #expect(document.root?.text == "&x;")
        #expect(document.documentType?.hasPrefix(" a [") == true)
    }

    @Test func `elements are identified by namespace, whatever their prefix`() throws {
        let rss = try root(
            """
            <rss xmlns:d="http://purl.org/dc/elements/1.1/" xmlns:m="http://search.yahoo.com/mrss">
            <d:title>one</d:title><m:title>two</m:title><title>three</title><dc:date>four</dc:date>
            <x xmlns:d="http://example.com/"><d:title>five</d:title></x></rss>
            """)
        #expect(rss.first("title", in: .dc)?.text == "one")
        #expect(rss.first("title", in: .media)?.text == "two")
        #expect(rss.first("title", in: .rss)?.text == "three")
        #expect(rss.first("date", in: .dc)?.text == "four")
        #expect(rss.first("x", in: .none)?.first("title", in: .any)?.namespace == .other)
    }

    @Test func `attributes are read with any quotes or without, and by namespace`() throws {
        let element = try root(
            #"<a b="1 &amp; 2" c='3"' d=4 e xml:lang="de" x:f="no" g = " h " b="twice" href=http://x/?a=1&b=2 />"#)
        #expect(element["b"] == "1 & 2")
        #expect(element["c"] == "3\"")
        #expect(element["d"] == "4")
        #expect(element["e"] == "")
        #expect(element["lang", in: .xml] == "de")
        #expect(element["lang"] == nil)
        #expect(element["f"] == nil)
        #expect(element["g"] == "h")
        #expect(element["href"] == "http://x/?a=1&b=2")
    }

    @Test func `an end tag closes all elements inside, and an extra one closes nothing`() throws {
        let channel = try root("<channel><item><p>x<br>y</item></b><item>z</item></channel>")
        #expect(channel.children.map(\.text) == ["xy", "z"])
        #expect(channel.children.map(\.isCutOff) == [false, false])
        #expect(try root("<channel><item>x").children.map(\.isCutOff) == [true])
    }

    @Test func `elements beyond the maximum depth are dropped, but their text is kept`() throws {
        let deep = 1_000
        var element = try root(
            String(repeating: "<a>", count: deep) + "x" + String(repeating: "</a>", count: deep))
        #expect(element.text == "x")
        var depth = 1
        while let child = element.first("a", in: .any) { (element, depth) = (child, depth + 1) }
        #expect(depth == FeedLimits.depth)
    }

    @Test func `elements without an end tag, however deep, do not hide what follows their entry`() throws {
        let open = String(repeating: "<p>", count: 1_000)
        let channel = try root("<channel><item>\(open)x<br/></b></item><item>y<p>z</p></item></channel>")
        #expect(channel.children.map(\.text) == ["x", "yz"])
        #expect(channel.children.map(\.isCutOff) == [false, false])
    }

    @Test func `more names than the maximum below the maximum depth do not hide what follows their entry`() throws {
        let names = (0..<2_000).map { "<n\($0)>" }.joined()
        let channel = try root("<channel><item>\(names)x</n1999></n300></item><item>y</item></channel>")
        #expect(channel.children.map(\.text) == ["x", "y"])
    }

    @Test func `escaped markup is unescaped once, and elements are kept`() throws {
        let element = try root("<a>&lt;b&gt;x&lt;/b&gt; <i>y &amp;amp; z</i><![CDATA[<u>&amp;</u>]]></a>")
        #expect(String(decoding: element.markup, as: UTF8.self) == "<b>x</b> <i>y &amp;amp; z</i><u>&amp;</u>")
    }
}
