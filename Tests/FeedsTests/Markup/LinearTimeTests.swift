import Testing

@testable import Feeds

/// Four times the input may take four times the steps, but not sixteen times.
struct LinearTimeTests {
    static let inputs: [(name: String, repeated: String)] = [
        ("unclosed comments", "<!--"), ("unclosed sections", "<![CDATA["), ("unclosed instructions", "<?x"),
        ("unclosed declarations", "<!x"), ("document types", "<!DOCTYPE a ["),
        ("document types with quotes", "<!DOCTYPE '"),
        ("document types with comments", "<!DOCTYPE a [<!--"), ("open tags", "<a"), ("open tags with blanks", "<a "),
        ("open quotes", "<a b=\""), ("open quotes of both kinds", "<a b=\"'"), ("single quotes", "<a b='"),
        ("nested elements", "<a>"), ("end tags", "</a>"), ("other end tags", "<a></b>"), ("attributes", " b=c"),
        ("attributes in a tag", "<a b=c "), ("ampersands", "&"), ("references", "&#x41;"), ("open references", "&amp"),
        ("brackets", "]]>"), ("angles", "<"), ("dashes", "<!-----"), ("declared prefixes", "<a xmlns:b='c' b:d='e'>"),
        ("prefixes", "<a:b>"), ("siblings", "<a/>"), ("scripts", "<script>"), ("styles in scripts", "<script><style>"),
        ("end tags without end", "</a "), ("line ends", "\n"), ("wide characters", "\u{200B}e\u{301}"),
        ("equals", "<a ="),
    ]

    private func steps(_ text: String) -> Int {
        let bytes = Array(text.utf8)
        let document = MarkupDocument(bytes)
        var tokens = bytes.withUnsafeBufferPointer { buffer in
            var tokens = MarkupTokens(buffer)
            while let token = tokens.next() {
                if token.kind == .startTag, buffer.spells("script", in: token.name) {
                    tokens.skip(toEndOf: "script", 0)
                }
            }
            return tokens.work
        }
        tokens += document.work
        return tokens
    }

    @Test(arguments: inputs.map(\.name)) func `the number of steps grows only with the size`(name: String) throws {
        let repeated = try #require(Self.inputs.first { $0.name == name }).repeated
        for prefix in ["", "<rss><channel>"] {
            let small = steps(prefix + String(repeating: repeated, count: 20_000 / repeated.utf8.count))
            let large = steps(prefix + String(repeating: repeated, count: 80_000 / repeated.utf8.count))
            #expect(large < small * 5 + 5_000, "\(small) steps, then \(large)")
            #expect(large < 80_000 * 300)
        }
    }

    @Test func `the attributes around many links are read once`() throws {
        let document = MarkupDocument(
            Array("<a xml:base='https://a.example/b/' xml:lang='de'><b>\(String(repeating: "<c/>", count: 1_000))".utf8)
        )
        let inherited = InheritedAttributes()
        let inner = try #require(document.root?.first("b", in: .any))
        for link in inner.children {
            #expect(inherited.base(of: link) == "https://a.example/b/")
            #expect(inherited.language(of: link) == "de")
        }
        #expect(inherited.work == 2 * (1_000 + 2))
    }

    @Test func `an end tag is compared only with open elements`() {
        let open = (0..<256).map { "<a\($0)>" }.joined()
        let small = steps(open + String(repeating: "</b>", count: 1_000))
        let large = steps(open + String(repeating: "</b>", count: 4_000))
        #expect(large < small * 5)
    }
}
