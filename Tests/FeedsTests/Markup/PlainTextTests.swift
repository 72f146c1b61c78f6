import Testing

@testable import Feeds

struct PlainTextTests {
    @Test(arguments: [
        ("AT&T & <i>co</i> &mdash; 5 < 6", "AT&T & co — 5 < 6"), ("<p>one</p><p>two</p>", "one two"),
        ("one<br/>two<li>three", "one two three"), ("o<b>n</b>e", "one"), ("a \n\t b\u{A0}\u{3000}c ", "a b c"),
        ("<script>if (a < b) '</p>'</script>x", "x"), ("<SCRIPT>x</script >y", "y"),
        ("<script>never ended", "never ended"),
        ("<style>p{}</style><svg><text>no</text></svg>yes", "yes"), ("x<!-- no -->y<!doctype html>z", "xyz"),
        ("<a href=\"x>y\">z</a>", "z"), ("write to <jane@example.org>", "write to <jane@example.org>"),
        ("a <b or c", "a <b or c"), ("&copy 2026 &copy=1 &#8217 &notit; &amp;lt;", "© 2026 &copy=1 ’ &notit; &lt;"),
        ("\u{202E}evil\u{202C} \u{2066}x\u{2069}\u{200B}\u{FEFF}\u{2060}y", "evil xy"),
        ("👩\u{200D}🚀 می\u{200C}خواهم", "👩\u{200D}🚀 می\u{200C}خواهم"), ("don\u{92}t &#146;", "don’t ’"),
        ("x\u{0}\u{8}\u{7F}y", "xy"), ("<![CDATA[a < b]]>", "a < b"), ("<o:p>x</o:p>", "x"),
        ("Array<Element> and <Key, Value> of <T>s", "Array<Element> and <Key, Value> of <T>s"),
        ("<org>IPTC</org> <b>unclosed <NOBR>x", "IPTC unclosed x"), ("<!' <a href=x>a</a> <!> <!x>b", "<!' a b"),
        ("2 &times; 3 &ne; &NotEqualTilde;", "2 × 3 ≠ \u{2242}\u{338}"),
    ])
    func `HTML becomes the text that a phone shows`(html: String, text: String) {
        #expect(PlainText.ofHTML(Array(html.utf8), limit: 1_000) == text)
    }

    @Test(arguments: ["", " \n", "<p></p>", "<img src=x>", "\u{200B}\u{202E}", "<script>x</script>"])
    func `a document without visible characters has no text`(html: String) {
        #expect(PlainText.ofHTML(Array(html.utf8), limit: 1_000) == nil)
    }

    @Test func `plain text keeps its markup characters`() {
        #expect(PlainText.ofText(" <b> &amp; \u{202E}x ", limit: 100) == "<b> &amp; x")
    }

    @Test(arguments: [
        ("abc def", 5, "abc d"), ("abc def", 4, "abc"), ("ab👩\u{200D}🚀", 12, "ab"), ("e\u{301}e\u{301}", 4, "e\u{301}"),
        ("👩\u{200D}🚀", 5, "👩"), ("日本", 5, "日"), ("日本", 6, "日本"),
    ])
    func `a long text is cut between characters`(text: String, limit: Int, cut: String) {
        #expect(PlainText.ofText(text, limit: limit) == cut)
    }
}
