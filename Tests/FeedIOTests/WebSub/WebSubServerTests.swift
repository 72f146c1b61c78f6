import FeedIO
import Feeds
import HTTPServing
import Synchronization
import TestSupport
import Testing

/// Tests of the one port that strangers may reach.
@Suite(.timeLimit(.minutes(15)))
struct WebSubServerTests {
    private static let path = "/websub/" + String(repeating: "0a", count: 16)

    /// Runs a server whose calls are answered by `answer`. Calls without an answer wait.
    private static func serve(
        _ configure: (inout WebSubServerSettings) -> Void = { _ in },
        answer: @escaping @Sendable (WebSubCall) -> WebSubAnswer?,
        _ body: (Int) async throws -> Void
    ) async throws {
        var settings = WebSubServerSettings(publicURL: try #require(WebAddress("https://a.example/websub/")), port: 0)
        configure(&settings)
        let (calls, handed) = AsyncStream<(CallbackID, WebSubCall)>.makeStream()
        let server = WebSubServer(settings) { handed.yield(($0, $1)) }
        let running = try await server.start()
        let answering = Task {
            for await (id, call) in calls {
                if let answer = answer(call) { server.answer(id, answer) }
            }
        }
        do { try await body(running.port) } catch { Issue.record(error) }
        handed.finish()
        await answering.value
        await running.stop()
    }

    @Test(arguments: [
        ("GET", "/"), ("GET", "/websub/"), ("GET", "/metrics"), ("POST", "/websub/../metrics"), ("GET", path + "/"),
        ("POST", path + "a"), ("GET", "/other" + path), ("POST", "/websub/" + String(repeating: "zz", count: 16)),
        ("GET", "/websub//" + String(repeating: "0a", count: 16)),
    ])
    func `only callbacks are served`(method: String, target: String) async throws {
        try await Self.serve(answer: { _ in WebSubAnswer(status: 200) }) { port in
            let reply = try await RawClient.call(port, method, target)
            #expect(reply.status == 404)
        }
    }

    @Test(arguments: ["PUT", "DELETE", "HEAD", "OPTIONS", "PATCH"])
    func `a callback accepts only GET and POST`(method: String) async throws {
        try await Self.serve(answer: { _ in WebSubAnswer(status: 200) }) { port in
            let reply = try await RawClient.call(port, method, Self.path)
            #expect(reply.status == 405 && reply.headers["allow"] == "GET, POST")
        }
    }

    @Test func `a query is handed over decoded, and its answer is plain text`() async throws {
        let calls = Mutex<[WebSubCall]>([])
        try await Self.serve(
            answer: { call in
                calls.withLock { $0.append(call) }
                return WebSubAnswer(status: 200, body: "<b>")
            }
        ) { port in
            let query = "?hub.mode=subscribe&hub.challenge=a%20b+c%2Bd&hub.mode=denied&x=%zz&empty=&none"
            let reply = try await RawClient.call(port, "GET", Self.path + query)
            #expect(reply.text == "<b>")
            #expect(reply.headers["content-type"] == "text/plain; charset=utf-8")
            #expect(reply.headers["x-content-type-options"] == "nosniff")
        }
        let query = ["hub.mode": "subscribe", "hub.challenge": "a b c+d", "empty": ""]
        #expect(
            calls.withLock(\.self)
                == [WebSubCall(path: String(Self.path.dropFirst(8)), kind: .verification(query))])
    }

    @Test func `a body has a limit, and header names are in lower case`() async throws {
        let lengths = Mutex<[Int]>([])
        try await Self.serve(
            answer: { call in
                guard case .delivery(let headers, let body) = call.kind else { return nil }
                if headers.contains(HeaderField("x-hub-signature", "sha1=Ab")) {
                    lengths.withLock { $0.append(body.count) }
                }
                return WebSubAnswer(status: 200)
            }
        ) { port in
            let headers = [("X-HUB-Signature", "sha1=Ab")]
            for (count, status) in [(0, 200), (3 << 20, 200), (3 << 20 + 1, 413)] {
                let body = String(repeating: "x", count: count)
                let reply = try await RawClient.call(port, "POST", Self.path, headers: headers, body: body)
                #expect(reply.status == status)
            }
        }
        #expect(lengths.withLock(\.self) == [0, 3 << 20])
    }

    @Test func `a call beyond the limit of waiting calls gets 503`() async throws {
        let arrived = AsyncStream<Void>.makeStream()
        try await Self.serve(
            { $0.waitingMax = 1 },
            answer: { _ in
                arrived.continuation.yield()
                return nil
            }
        ) { port in
            let head = "POST \(Self.path) HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx"
            try await RawClient.hold(port, Array(head.utf8)) {
                for await _ in arrived.stream { break }
                let reply = try await RawClient.call(port, "POST", Self.path, body: "x")
                #expect(reply.status == 503 && reply.headers["retry-after"] == "60")
            }
        }
    }

    @Test func `the bodies of waiting calls have a common limit`() async throws {
        let arrived = AsyncStream<Void>.makeStream()
        try await Self.serve(
            { $0.waitingBytesMax = 1_000 },
            answer: { _ in
                arrived.continuation.yield()
                return nil
            }
        ) { port in
            let head = "POST \(Self.path) HTTP/1.1\r\nHost: a\r\nContent-Length: 600\r\n\r\n"
            try await RawClient.hold(port, Array(head.utf8) + [UInt8](repeating: 120, count: 600)) {
                for await _ in arrived.stream { break }
                let large = String(repeating: "x", count: 600)
                let reply = try await RawClient.call(port, "POST", Self.path, body: large)
                #expect(reply.status == 503)
            }
        }
    }

    @Test func `a call without an answer ends with 503`() async throws {
        try await Self.serve({ $0.patience = .milliseconds(50) }, answer: { _ in nil }) { port in
            let reply = try await RawClient.call(port, "POST", Self.path, body: "x")
            #expect(reply.status == 503 && reply.headers["retry-after"] == "60")
        }
    }

    @Test func `a server that stops ends the waiting calls`() async throws {
        let (calls, handed) = AsyncStream<CallbackID>.makeStream()
        var settings = WebSubServerSettings(publicURL: try #require(WebAddress("https://a.example/websub/")), port: 0)
        // Longer than this suite may take.
        settings.patience = .seconds(600)
        let server = WebSubServer(settings) { id, _ in handed.yield(id) }
        let running = try await server.start()
        let port = running.port
        let reply = Task { try await RawClient.call(port, "POST", Self.path, body: "x") }
        for await _ in calls { break }
        await running.stop()
        #expect(try await reply.value.status == 503)
    }
}
