import ByteText
import Testing

@testable import Feeds

struct WebAddressTests {
    /// RFC 3986 §5.4. `g:h` and the like are not web addresses, and `http:g` is read as in browsers.
    @Test(arguments: [
        ("g:h", nil), ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"),
        ("/g", "http://a/g"), ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"),
        ("#s", "http://a/b/c/d;p?q#s"), ("g#s", "http://a/b/c/g#s"), ("g?y#s", "http://a/b/c/g?y#s"),
        (";x", "http://a/b/c/;x"), ("g;x", "http://a/b/c/g;x"), ("g;x?y#s", "http://a/b/c/g;x?y#s"),
        ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"),
        ("../", "http://a/b/"), ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../", "http://a/"),
        ("../../g", "http://a/g"),
        ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"), ("/./g", "http://a/g"), ("/../g", "http://a/g"),
        ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"), ("g..", "http://a/b/c/g.."), ("..g", "http://a/b/c/..g"),
        ("./../g", "http://a/b/g"), ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"),
        ("g/../h", "http://a/b/c/h"), ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"),
        ("g?y/./x", "http://a/b/c/g?y/./x"), ("g?y/../x", "http://a/b/c/g?y/../x"), ("g#s/./x", "http://a/b/c/g#s/./x"),
        ("g#s/../x", "http://a/b/c/g#s/../x"), ("http:g", "http://a/b/c/g"),
    ])
    func `a reference is resolved by RFC 3986`(reference: String, address: String?) throws {
        let base = try #require(WebAddress("http://a/b/c/d;p?q"))
        #expect(base.resolve(reference)?.text == address)
    }

    @Test(arguments: [
        ("  https://Example.ORG:443/A b?x=ä&y=%zz#{f}\n", "https://example.org:443/A%20b?x=%C3%A4&y=%25zz#%7Bf%7D"),
        ("HTTP://example.org", "http://example.org"),
        ("https://exam\nple.org/a\tb", "https://example.org/ab"),
        ("https://münchen.de/ä", "https://xn--mnchen-3ya.de/%C3%A4"),
        ("https://MÜNCHEN.de/", "https://xn--mnchen-3ya.de/"),
        ("https://例え。jp/", "https://xn--r8jz45g.jp/"),
        ("https://m%C3%BCnchen.de/", "https://xn--mnchen-3ya.de/"),
        ("http://[2001:DB8::1]:8080/x", "http://[2001:db8::1]:8080/x"),
        ("https://user:secret@example.org/", "https://user:secret@example.org/"),
        ("https://example.org:/x", "https://example.org/x"),
        ("https://example.org/a/../b/./c", "https://example.org/b/c"),
        ("https://example.org?x", "https://example.org?x"),
        ("https://example.org/%C3%A4%2f", "https://example.org/%C3%A4%2f"),
    ])
    func `an address is unchanged except for characters that no address may contain`(text: String, address: String) {
        #expect(WebAddress(text)?.text == address)
    }

    @Test(arguments: [
        "", "example.org/x", "/x", "mailto:desk@example.org", "javascript:alert(1)", "ftp://example.org/",
        "tag:x,2026:1",
        "https://", "https:///x", "https://:80/", "https://a b/", "https://example.org:0/",
        "https://example.org:65536/",
        "https://example.org:x/", "https://exa%00mple.org/", "https://a%2Fb/", #"https://good.org\@evil.org/"#,
        "https://[::1/", "https://[x]/", "https://ex^ample.org", "urn:uuid:1", "data:text/html,x",
        "https://" + String(repeating: "a", count: 300) + ".org/",
        "https://" + String(repeating: "ü", count: 64) + ".org/",
        "https://example.org/" + String(repeating: "a", count: 9_000),
    ])
    func `any other text is not an address`(text: String) {
        #expect(WebAddress(text) == nil)
    }

    @Test(arguments: [
        (["https://example.org/feed.xml"], "a", "https://example.org/a"),
        (["https://example.org/feed.xml", "/blog/", "2026/"], "a", "https://example.org/blog/2026/a"),
        (["https://example.org/feed.xml", "tag:example.org,2026:x"], "a", "https://example.org/a"),
        (["https://example.org/feed.xml", "http://other.org/x/y"], "a", "http://other.org/x/a"),
        (["nothing"], "a", nil), ([], "https://example.org/a", "https://example.org/a"), ([], "a", nil),
        (["https://example.org/feed.xml"], "mailto:x@example.org", nil),
        (["https://example.org"], "a", "https://example.org/a"),
    ])
    func `a reference is resolved against the nearest base`(bases: [String], reference: String, address: String?) {
        #expect(WebAddress.resolve(reference, against: bases)?.text == address)
    }

    @Test(arguments: [
        ("http://EXAMPLE.org:80/a?utm_source=x&id=1&at_medium=y&b=2#top", "https://example.org/a?id=1&b=2"),
        ("https://example.org:443", "https://example.org/"),
        ("https://example.org:8443/", "https://example.org:8443/"),
        ("https://example.org/?fbclid=1&ref=home&UTM_X=1", "https://example.org/"),
        ("https://example.org/?b=2&a=1", "https://example.org/?b=2&a=1"),
        ("https://example.org/?reference=1&refs", "https://example.org/?reference=1&refs"),
        ("https://me:secret@example.org/A", "https://example.org/A"),
    ])
    func `addresses of one page have the same key`(text: String, key: String) {
        #expect(WebAddress(text)?.identityKey == key)
    }

    @Test func `an address has the parts that a request needs`() throws {
        let address = try #require(WebAddress("https://u:p@Example.org:8443?x=1#f"))
        #expect(address.host == "example.org")
        #expect(address.port == 8_443)
        #expect(address.authority == "example.org:8443")
        #expect(address.userInfo == "u:p")
        #expect(WebAddress("http://example.org")?.port == 80)
        #expect(WebAddress("https://example.org")?.port == 443)
    }

    @Test(arguments: [
        ("https://news.example", true), ("http://news.example/a.b/c?d=/x&e=%C3%A4#f", true),
        ("https://news.example?x", true), ("https://News.example/", false), ("https://news.example:443/", false),
        ("https://u@news.example/", false), ("https://news.example/a/../b", false), ("https://news.example/ä", false),
        ("https://news.example/a b", false), ("https://news.example/%zz", false), ("https://news.example/%4", false),
        ("https:///a", false), ("ftp://news.example/", false), ("https://news.example#x", false), ("", false),
    ])
    func `an address that needs no change is normal`(text: String, isNormal: Bool) {
        #expect(WebAddress.isNormal(text) == isNormal)
        if isNormal { #expect(WebAddress(text)?.text == text) }
    }

    @Test func `a normal address is unchanged when it is read`() {
        var random = SeededRandom(seed: 8)
        let spice = Array("/.:?#@[]%&=\\ aAé2\n\"".utf8) + [0x7F]
        var normal = 0
        for _ in 0..<30_000 {
            var text = Array("https://news.example/a/b.c?d=%41#e".utf8)
            for _ in 0..<Int.random(in: 0...4, using: &random) {
                let place = Int.random(in: 0..<text.count, using: &random)
                text[place] = spice[Int.random(in: 0..<spice.count, using: &random)]
            }
            let written = String(decoding: text, as: UTF8.self)
            guard WebAddress.isNormal(written) else { continue }
            normal += 1
            #expect(WebAddress(written)?.text == written, "\(written)")
        }
        #expect(normal > 3_000)
    }

    @Test func `no text causes a trap, and an address that is read again is the same`() {
        var random = SeededRandom(seed: 6)
        let base = WebAddress("https://example.org/a/b?c")
        let spice = Array("/.:?#@[]%&=\\ aé2\n。".utf8) + [0xFF]
        for _ in 0..<30_000 {
            var text = Array(
                (["https://u@example.org:80/a?b#c", "../x", "//ü.org"].randomElement(using: &random) ?? "").utf8)
            for _ in 0..<Int.random(in: 0...8, using: &random) {
                let place = Int.random(in: 0...text.count, using: &random)
                text.insert(spice[Int.random(in: 0..<spice.count, using: &random)], at: place)
            }
            guard let address = base?.resolve(String(decoding: text, as: UTF8.self)) else { continue }
            #expect(WebAddress(address.text) == address, "\(text)")
        }
    }
}
