import Feeds
import Testing

private func ip(_ text: String) -> IPAddress? {
    if text.contains(".") { return IPAddress(bytes: text.split(separator: ".").compactMap { UInt8($0) }) }
    let halves = text.split(separator: "::", omittingEmptySubsequences: false).map { half in
        half.split(separator: ":").compactMap { UInt16($0, radix: 16) }
    }
    let tail = halves.count > 1 ? halves[1] : []
    let words = halves[0] + Array(repeating: 0, count: 8 - halves[0].count - tail.count) + tail
    return IPAddress(bytes: words.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] })
}

struct IPAddressTests {
    @Test(arguments: [
        "0.0.0.0", "0.1.2.3", "10.0.0.0", "10.255.255.255", "100.64.0.0", "100.127.255.255", "127.0.0.1",
        "127.255.255.255",
        "169.254.169.254", "172.16.0.0", "172.31.255.255", "192.0.0.8", "192.0.2.1", "192.88.99.1", "192.168.0.1",
        "198.18.0.0", "198.19.255.255", "198.51.100.7", "203.0.113.9", "224.0.0.1", "239.255.255.255", "240.0.0.1",
        "255.255.255.255",
        "::", "::1", "::7f00:1", "::ffff:7f00:1", "::ffff:a00:1", "::ffff:808:808", "64:ff9b::7f00:1",
        "64:ff9b::a9fe:a9fe",
        "64:ff9b:1::808:808", "64:ff9b::1:808:808", "100::1", "2001::1", "2001:db8::1", "2002:7f00:1::",
        "2002:808:808::",
        "3fff::1", "4000::1", "5f00::1", "fc00::1", "fdff:ffff::1", "fe80::1", "fec0::1", "ff02::1",
    ])
    func `special addresses are not public`(text: String) throws {
        #expect(try !#require(ip(text)).isPublic)
    }

    @Test(arguments: [
        "1.0.0.0", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255",
        "128.0.0.0",
        "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.0", "192.167.255.255", "192.169.0.0",
        "198.17.255.255", "198.20.0.0", "223.255.255.255",
        "2001:4860:4860::8888", "2600::1", "2a00:1450::1", "3ffe::1", "64:ff9b::808:808",
    ])
    func `addresses next to special ones are public`(text: String) throws {
        #expect(try #require(ip(text)).isPublic)
    }

    @Test func `an address has 4 bytes or 16`() {
        for count in 0..<20 {
            #expect((IPAddress(bytes: [UInt8](repeating: 1, count: count)) != nil) == [4, 16].contains(count))
        }
    }
}

struct AddressRulesTests {
    private func rules(
        _ configured: String = "https://news.example:9000/feed", isTrusted: Bool = true, _ allow: [String] = []
    ) throws -> AddressRules {
        AddressRules(configured: try FetchAddress(configured), isTrusted: isTrusted, allowPrivate: allow)
    }

    @Test(
        arguments: [
            ("https://b.example/", nil), ("https://b.example:8443/", nil), ("https://b.example:8080/", nil),
            ("https://b.example:80/", nil), ("https://b.example:9000/", nil),
            ("https://b.example:22/", .forbiddenAddress),
            ("http://b.example/", .downgrade), ("http://news.example/feed", .downgrade),
        ] as [(String, FetchFailure.Reason?)])
    func `a redirect may lead to a usual port or the configured one, but never from https to http`(
        text: String, reason: FetchFailure.Reason?
    ) throws {
        let configured = try FetchAddress("https://news.example:9000/feed")
        #expect(try rules().refusal(of: FetchAddress(text), after: configured)?.reason == reason)
    }

    @Test func `the configured address may use its own port, but a hub's address may not`() throws {
        let text = "http://news.example:9000/"
        #expect(try rules(text).refusal(of: FetchAddress(text), after: nil) == nil)
        #expect(
            try rules(text, isTrusted: false).refusal(of: FetchAddress(text), after: nil)?.reason == .forbiddenAddress)
    }

    @Test func `a redirect may lead from http to https, or stay on http`() throws {
        let configured = try FetchAddress("http://news.example/")
        let rules = AddressRules(configured: configured, allowPrivate: [])
        #expect(try rules.refusal(of: FetchAddress("https://b.example/"), after: configured) == nil)
        #expect(try rules.refusal(of: FetchAddress("http://b.example/"), after: configured) == nil)
    }

    @Test func `private addresses are allowed only for hosts that the configuration names`() throws {
        let loopback = try #require(ip("127.0.0.1"))
        let rules = try rules("http://news.example/", ["Intranet.Example.", "127.0.0.1", " [::1] "])
        for host in ["intranet.example", "127.0.0.1", "::1"] { #expect(rules.refusal(of: loopback, for: host) == nil) }
        let refusal = rules.refusal(of: loopback, for: "news.example")
        #expect(refusal?.reason == .forbiddenAddress)
        #expect(refusal?.detail.contains("allowPrivate: [\"news.example\"]") == true)
        #expect(try rules.refusal(of: #require(ip("8.8.8.8")), for: "news.example") == nil)
    }

    @Test func `the feed's headers are sent only to the origin that they were written for`() throws {
        let rules = try rules("https://news.example/feed")
        #expect(try rules.sendsHeaders(to: FetchAddress("https://news.example:443/other")))
        for other in ["https://www.news.example/", "http://news.example/", "https://news.example:8443/"] {
            #expect(try !rules.sendsHeaders(to: FetchAddress(other)))
        }
        let plain = try self.rules("http://news.example/feed")
        #expect(try plain.sendsHeaders(to: FetchAddress("https://news.example/feed")))
        #expect(try !plain.sendsHeaders(to: FetchAddress("https://news.example:8443/feed")))
    }
}
