import HTTPServing
import HTTPTypes
import NIOEmbedded
import Testing

struct CallerTests {
    @Test(arguments: [
        "localhost", "LOCALHOST:9464", "127.0.0.1", "127.0.0.1:80", "127.255.255.254", "[::1]", "[::1]:9464",
        "[::ffff:127.0.0.1]", "localhost:",
    ])
    func `every form of this machine's name is recognised`(authority: String) {
        #expect(Caller.namesLoopback(authority))
    }

    @Test(arguments: [
        "", "127.evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "localhost.", "127.1",
        "127.0.0.256",
        "0.0.0.0", "128.0.0.1", "[::1", "[127.0.0.1]", "::1", "[::2]", "[::ffff:128.0.0.1]", "127.0.0.1:80:80",
        "localhost:evil", "user@localhost", "[::1]evil", " localhost", "2130706433", "0x7f.0.0.1",
    ])
    func `a name that only resembles this machine's is not recognised`(authority: String) {
        #expect(!Caller.namesLoopback(authority))
    }

    @Test(arguments: [
        ("localhost:8090", true), ("hub:8090", true), ("hub", true), ("172.17.0.2:8090", true),
        ("[fe80::1]:8090", true),
        ("::1", false), ("", false), (":8090", false), ("hub.evil.example", false), ("hub.", false),
        ("127.0.0.1.evil.example:8090", false), ("hub:evil", false), ("[::1", false), ("[::1]evil", false),
    ])
    func `only callers that name this machine as no foreign page can are invited`(authority: String, isInvited: Bool) {
        var caller = Caller(address: "203.0.113.7", authority: authority)
        #expect(caller.isInvited == isInvited)
        caller.origin = "http://\(authority)"
        #expect(caller.isInvited == isInvited)
        caller.origin = "http://evil.example"
        #expect(!caller.isInvited)
    }

    @Test
    func `programs on this machine and the pages that it served are local`() {
        var caller = Caller(address: "127.0.0.1", authority: "localhost:9464")
        #expect(caller.isLocal)
        caller.origin = "http://localhost:9464"
        #expect(caller.isLocal)
        caller.origin = "http://localhost:8080"
        #expect(!caller.isLocal)
        caller.origin = nil
        caller.isForwarded = true
        #expect(!caller.isLocal)
        #expect(!Caller(address: "203.0.113.7", authority: "localhost").isLocal)
        #expect(!Caller(address: "127.0.0.1", authority: "newsroom.example").isLocal)
        #expect(Caller(address: "::ffff:127.0.0.1", authority: "127.0.0.1").isLocal)
    }

    /// Browsers omit `Origin` in requests for images, scripts and links.
    @Test(arguments: [
        ("GET", [("Sec-Fetch-Site", "cross-site")], false), ("GET", [("sec-fetch-site", "Cross-Site")], false),
        ("GET", [("Sec-Fetch-Site", "same-site")], false), ("GET", [("Sec-Fetch-Site", "same-origin")], true),
        ("GET", [("Sec-Fetch-Site", "none")], true), ("GET", [], true),
        ("GET", [("Sec-Fetch-Site", "same-origin"), ("Sec-Fetch-Site", "cross-site")], false),
        (
            "GET", [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document")],
            true
        ),
        (
            "GET", [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "iframe")],
            false
        ),
        (
            "GET", [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "no-cors"), ("Sec-Fetch-Dest", "script")],
            false
        ),
        (
            "POST", [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document")],
            false
        ),
    ])
    func `a request from a page of another site is recognised by its browser's fields`(
        method: String, fields: [(String, String)], isSameSite: Bool
    ) throws {
        var head = HTTPRequest(
            method: try #require(HTTPRequest.Method(method)), scheme: "http", authority: "localhost:8090", path: "/")
        for (name, value) in fields {
            head.headerFields.append(HTTPField(name: try #require(HTTPField.Name(name)), value: value))
        }
        #expect(Caller(connection: EmbeddedChannel(), head: head).isSameSite == isSameSite)
    }
}
