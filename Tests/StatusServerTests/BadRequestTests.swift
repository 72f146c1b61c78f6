import Foundation
import HTTPServing
import TestSupport
import Testing

@testable import StatusServer

/// All rows use one server, so that a row's damage would show in the next.
@Suite(.timeLimit(.minutes(15)), .serialized)
struct BadRequestTests {
    @Test
    func `every path answers a bad request with a proper status and no more`() async throws {
        let room = try await StatusRoom(runs: false)
        let pages = [
            "/", "/dashboard.css", "/dashboard.js", "/map.js", "/healthz", "/readyz", "/metrics", "/api/status",
            "/api/results",
            "/api/stream",
        ]
        for page in pages {
            for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"] {
                let reply = try await room.call(method, page)
                #expect(reply.status == 405, "\(method) \(page)")
                #expect(reply.headers["allow"] == "GET, HEAD")
            }
            let head = try await room.call("HEAD", page)
            #expect([200, 503].contains(head.status), "\(page)")
            #expect(head.body.isEmpty)
            if !["/metrics", "/api/status", "/api/stream"].contains(page) {
                let length = try #require(head.headers["content-length"].flatMap { Int($0) }, "\(page)")
                #expect(try await room.get(page).body.count == length, "\(page)")
            }
            let oversized = try await room.call("GET", page, body: String(repeating: "x", count: 100_000))
            #expect(oversized.status == 413, "\(page)")
        }
        for action in ["pause", "resume"] {
            let wrongMethod = try await room.get("/api/lanes/live/\(action)")
            #expect(wrongMethod.status == 405)
            #expect(wrongMethod.headers["allow"] == "POST")
            #expect(try await room.call("POST", "/api/lanes/backfill/\(action)").status == 404)
        }
        for path in [
            "/favicon.ico", "/api", "/api/", "/api/lanes", "/api/lanes/live", "/api/lanes/live/stop",
            "/api/lanes/live/pause/x",
            "//", "/healthz/", "/%2e%2e/etc/passwd", "/../../etc/passwd", "/HEALTHZ",
        ] {
            #expect(try await room.get(path).status == 404, "\(path)")
        }
        for query in ["limit=0", "limit=201", "limit=-1", "limit=x", "limit=", "limit=9999999999999999999999"] {
            #expect(try await room.get("/api/results?\(query)").status == 400, "\(query)")
        }
        #expect(try await room.get("/healthz?anything=\(String(repeating: "x", count: 2000))").status == 200)
        try await room.close()
    }

    private static let malformed = [
        "no request": "nonsense\r\n\r\n", "unknown method": "BREW / HTTP/1.1\r\nHost: a\r\n\r\n",
        "no version": "GET / HTTP/9.9\r\n\r\n", "target": "GET /\u{fffd} HTTP/1.1\r\nHost: a\r\n\r\n",
        "field name": "GET /healthz HTTP/1.1\r\nHost: a\r\nBad Name: x\r\n\r\n",
        "negative length": "GET /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
        "chunk length":
            "POST /api/lanes/live/pause HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "large field": "GET /healthz HTTP/1.1\r\nHost: a\r\nX: " + String(repeating: "x", count: 20_000) + "\r\n\r\n",
        "long target": "GET /" + String(repeating: "x", count: 100_000) + " HTTP/1.1\r\nHost: a\r\n\r\n",
        "control characters": "\u{0}\u{1}\u{2}\u{3}\r\n\r\n",
        "many fields": "GET /healthz HTTP/1.1\r\n" + String(repeating: "A: b\r\n", count: 500) + "\r\n",
    ]

    @Test(arguments: malformed.keys.sorted())
    func `malformed bytes are refused without harm to the server`(what: String) async throws {
        let bytes = try #require(Self.malformed[what])
        let room = try await StatusRoom(runs: false)
        let reply = try RawClient.Reply(try await RawClient.exchange(room.server.port, Array(bytes.utf8)))
        #expect((400...499).contains(reply.status), "\(reply.status)")
        #expect(reply.body.isEmpty)
        #expect(try await room.get("/healthz").status == 200)
        try await room.close()
    }

    @Test(arguments: [
        "G", "GET /healthz HTTP/1.1\r\nHost: a",
        "POST /api/lanes/live/pause HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nx",
    ])
    func `a request that never ends is answered and cut off`(beginning: String) async throws {
        let room = try await StatusRoom(runs: false) { settings in
            settings.limits.head = .milliseconds(50)
            settings.limits.body = .milliseconds(50)
        }
        let reply = try RawClient.Reply(try await RawClient.exchange(room.server.port, Array(beginning.utf8)))
        #expect(reply.status == 408)
        #expect(reply.body.isEmpty && reply.headers["connection"] == "close")
        try await room.close()
    }

    @Test(arguments: [
        "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET /api/stream HTTP/1.1\r\nHost: localhost\r\n\r\n", "GET /he",
    ])
    func `the server stops although callers stay connected`(request: String) async throws {
        let room = try await StatusRoom(runs: false)
        let began = ContinuousClock.now
        try await RawClient.hold(room.server.port, Array(request.utf8)) { try await room.close() }
        #expect(ContinuousClock.now - began < .seconds(30))
    }

    @Test
    func `an action from another machine needs the token`() async throws {
        let room = try await StatusRoom(token: "canary-5b1e", runs: false)
        let port = room.server.port
        func post(_ headers: [(String, String)]) async throws -> RawClient.Reply {
            try await room.call("POST", "/api/lanes/live/pause", headers: headers)
        }
        let forwarded = ("X-Forwarded-For", "203.0.113.7")
        #expect(try await post([]).status == 200)
        #expect(try await post([forwarded, ("Authorization", "Bearer canary-5b1e")]).status == 200)
        let refused = try await post([forwarded])
        #expect(refused.status == 401)
        #expect(refused.headers["www-authenticate"] == "Bearer")
        #expect(try await post([("Authorization", "Bearer canary-5b1")]).status == 401)
        #expect(try await post([("Authorization", "Basic x")]).status == 401)
        #expect(try await post([("Host", "newsroom.example")]).status == 401)
        #expect(try await post([("Origin", "https://evil.example")]).status == 403)
        #expect(
            try await post([("Origin", "https://evil.example"), ("Authorization", "Bearer canary-5b1e")]).status == 403)
        #expect(try await post([("Origin", "http://127.0.0.1:\(port)")]).status == 200)
        #expect(!room.log.all.joined().contains("canary"))
        #expect(!String(describing: StatusServerSettings(token: BearerToken("canary-5b1e"))).contains("canary"))
        #expect(room.log.all.contains("operator action action=pause as=token caller=127.0.0.1 lane=live"))
        #expect(
            room.log.all.contains(
                "operator action refused action=pause caller=127.0.0.1 lane=live "
                    + "reason=This needs the token of http.token, as a bearer token."))
        try await room.close()
    }

    @Test(arguments: [
        "Via: 1.1 proxy", "via: 1.1 proxy", "Forwarded: for=203.0.113.7", "X-Forwarded-For: 203.0.113.7",
        "X-Forwarded-Proto: https", "X-Real-IP: 203.0.113.7", "CF-Connecting-IP: 203.0.113.7",
    ])
    func `a request through a proxy is refused as not local, with the reason`(field: String) async throws {
        let room = try await StatusRoom(runs: false)
        let parts = field.split(separator: ":", maxSplits: 1)
        let reply = try await room.call(
            "POST", "/api/lanes/live/pause",
            headers: [(String(parts[0]), parts[1].trimmingCharacters(in: .whitespaces))])
        #expect(reply.status == 403)
        #expect(reply.text.contains("came through a proxy"))
        try await room.close()
    }

    @Test
    func `a request under another host name is answered with the right name`() async throws {
        let room = try await StatusRoom(runs: false)
        let reply = try await room.call("POST", "/api/lanes/live/pause", headers: [("Host", "newsroom.example")])
        #expect(reply.status == 403)
        #expect(reply.text.contains("Ask for localhost or a loopback address"))
        try await room.close()
    }

    @Test
    func `refused actions are logged once, and then counted`() async throws {
        let room = try await StatusRoom(runs: false) { $0.refusalInterval = .milliseconds(1) }
        for _ in 0..<50 {
            #expect(try await room.call("POST", "/api/lanes/live/pause", headers: [("Host", "a")]).status == 403)
        }
        let first = try #require(room.log.all.first)
        #expect(first.hasPrefix("operator action refused action=pause caller=127.0.0.1 lane=live reason=Ask for"))
        func told() -> Int {
            room.log.all.reduce(0) { count, line in
                let counted = line.firstMatch(of: /more operator actions refused count=(\d+)/).flatMap { Int($0.1) }
                return count + (counted ?? 1)
            }
        }
        while told() < 50 { await Task.yield() }
        #expect(told() == 50)
        try await room.close()
    }

    @Test
    func `a minute of refused actions produces one line of each kind`() async throws {
        let room = try await StatusRoom(token: "canary-5b1e", runs: false)
        for _ in 0..<50 {
            let foreign = [("Origin", "https://evil.example")]
            #expect(try await room.call("POST", "/api/lanes/live/pause", headers: foreign).status == 403)
            #expect(try await room.call("POST", "/api/lanes/live/pause", headers: [("Host", "a")]).status == 401)
        }
        #expect(room.log.all.count == 2)
        try await room.close()
    }

    private static let local = Caller(address: "127.0.0.1", authority: "localhost:9464")
    private static let remote = Caller(address: "203.0.113.7", authority: "a")

    @Test(arguments: [
        (local, nil, true, true),
        (Caller(address: "127.0.0.1", authority: nil), nil, false, false),
        (Caller(address: "127.0.0.1", authority: "localhost", isForwarded: true), nil, false, false),
        (Caller(address: "127.0.0.1", authority: "localhost", origin: "null"), nil, false, false),
        (remote, nil, false, false), (remote, "Bearer secret", false, true), (remote, "bearer secret", false, true),
        (remote, "BEARER  secret", false, true),
        (remote, "Bearersecret", false, false), (remote, "secret", false, false), (remote, "", false, false),
        (remote, "Basic secret", false, false),
        (local, "Bearer ", false, false), (local, "Bearer secrets", false, false),
        (Caller(address: "203.0.113.7", authority: "a", origin: "https://a"), "Bearer secret", false, true),
        (Caller(address: "203.0.113.7", authority: "a", origin: "https://b"), "Bearer secret", false, false),
    ])
    func `only entitled callers may act`(caller: Caller, authorization: String?, withoutToken: Bool, withToken: Bool) {
        for (token, isAllowed) in [(nil, withoutToken), ("secret", withToken)] as [(String?, Bool)] {
            let verdict = AccessGate(token: BearerToken(token), isOnLoopback: true).mayAct(
                caller, authorization: authorization)
            #expect({ if case .allowed = verdict { true } else { false } }() == isAllowed, "\(verdict)")
        }
    }

    /// A page on `127.evil.example`, which resolves to 127.0.0.1, sends that name as the host.
    @Test
    func `a foreign name that resolves to this machine is refused on a loopback port`() async throws {
        let room = try await StatusRoom(token: "canary-5b1e", runs: false)
        let rebound = ("Host", "127.evil.example:\(room.server.port)")
        for path in ["/", "/metrics", "/api/status", "/api/results", "/readyz"] {
            #expect(try await room.call("GET", path, headers: [rebound]).status == 403)
            #expect(try await room.call("GET", path, headers: [("Host", "localhost")]).status != 403)
        }
        let origin = ("Origin", "http://127.evil.example:\(room.server.port)")
        #expect(try await room.call("POST", "/api/lanes/live/pause", headers: [rebound, origin]).status == 401)
        let token = ("Authorization", "Bearer canary-5b1e")
        #expect(try await room.call("GET", "/metrics", headers: [rebound, token]).status == 200)
        try await room.close()
    }
}
