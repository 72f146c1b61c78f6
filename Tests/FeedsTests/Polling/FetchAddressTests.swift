import Feeds
import Testing

private func address(_ text: String) -> FetchAddress? { try? FetchAddress(text) }

private func reason(_ body: () throws(FetchFailure) -> FetchAddress) -> FetchFailure.Reason? {
    do {
        _ = try body()
        return nil
    } catch { return error.reason }
}

struct FetchAddressTests {
    @Test(
        arguments: [
            ("https://news.example/feed", "https://news.example/feed"),
            (" HTTPS://News.Example.:443 ", "https://news.example/"),
            ("http://news.example:80?x=1#top", "http://news.example/?x=1"),
            ("http://news.example:8080/a/../b", "http://news.example:8080/a/../b"),
            ("http://[2001:DB8::1]:81/", "http://[2001:db8::1]:81/"), ("http://[::1]", "http://[::1]/"),
            ("http://127.1/", "http://127.1/"), ("http://müller.example/", "http://xn--mller-kva.example/"),
            ("https://news.example/é \"x\"%20", "https://news.example/%C3%A9%20%22x%22%20"),
            ("https://news.example\\@evil.example/", nil), ("https://news.example:/", "https://news.example/"),
            ("https://xn--mller-kva.example/", "https://xn--mller-kva.example/"),
        ] as [(String, String?)])
    func `addresses are read in the form that a connection needs`(text: String, whole: String?) {
        #expect(address(text)?.text == whole)
    }

    @Test(
        arguments: [
            ("", .badAddress), ("news.example/feed", .badAddress), ("/feed", .badAddress), ("http://", .badAddress),
            ("http:///feed", .badAddress), ("http://:80/", .badAddress), ("http://a:0/", .badAddress),
            ("http://a:65536/", .badAddress), ("http://a:+80/", .badAddress), ("http://a:8 0/", .badAddress),
            ("http://a b/", .badAddress), ("http://[::1/", .badAddress),
            ("http://[::1]x/", .badAddress), ("http://[fe80::1%25eth0]/", .badAddress),
            ("http://.example/", .badAddress),
            ("http://a.example/\r\nX: y", .badAddress), ("http://a\u{0}.example/", .badAddress),
            ("http://\(String(repeating: "a", count: 254))/", .badAddress),
            ("http://a/" + String(repeating: "a", count: 8_192), .badAddress),
            ("ftp://a/", .forbiddenAddress), ("file:///etc/passwd", .forbiddenAddress),
            ("javascript:alert(1)", .forbiddenAddress), ("http://name:word@a.example/", .forbiddenAddress),
            ("http://a.example@evil.example/", .forbiddenAddress),
        ] as [(String, FetchFailure.Reason)])
    func `an address that two programs could read differently is refused`(text: String, expected: FetchFailure.Reason) {
        #expect(reason { () throws(FetchFailure) in try FetchAddress(text) } == expected)
    }

    @Test func `an error does not repeat the address`() {
        do throws(FetchFailure) {
            _ = try FetchAddress("https://name:word@a.example/")
        } catch { #expect(!error.detail.contains("word@") && error.detail.contains("Authorization")) }
    }

    @Test(
        arguments: [
            ("https://b.example/x", "https://b.example/x"), ("//b.example/x", "https://b.example/x"),
            ("/x", "https://a.example:444/x"), ("x", "https://a.example:444/d/x"), ("./x", "https://a.example:444/d/x"),
            ("../x", "https://a.example:444/x"), ("../../../x", "https://a.example:444/x"),
            ("..", "https://a.example:444/"),
            (".", "https://a.example:444/d/"), ("?y=2", "https://a.example:444/d/e?y=2"),
            ("", "https://a.example:444/d/e?q=/z/"),
            ("#f", "https://a.example:444/d/e?q=/z/"), ("x?a=/../b", "https://a.example:444/d/x?a=/../b"),
            ("/a/./b/../c", "https://a.example:444/a/c"), ("é", "https://a.example:444/d/%C3%A9"),
            ("mailto:x", nil), ("//", nil), ("https:x", "https://a.example:444/d/x"),
        ] as [(String, String?)])
    func `a redirect is resolved against the address that sent it`(reference: String, whole: String?) throws {
        let base = try FetchAddress("https://a.example:444/d/e?q=/z/")
        #expect((try? base.resolving(reference))?.text == whole)
    }
}
