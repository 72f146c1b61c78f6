import Foundation
import HTTPServing
import Hummingbird
import NIOCore
import NIOPosix
import TestSupport
import Testing

/// The server's behaviour towards clients that waste its resources.
@Suite(.timeLimit(.minutes(15)))
struct RudeClientTests {
    private static let soon = Duration.milliseconds(50)

    private func withServer(
        _ limits: ConnectionLimits, _ responder: Probe = Probe(), _ body: (Int) async throws -> Void
    ) async throws {
        let server = try await RunningServer.start(responder, host: "127.0.0.1", port: 0, limits: limits)
        do { try await body(server.port) } catch {
            await server.stop()
            throw error
        }
        await server.stop()
    }

    private func answer(_ port: Int, _ request: String) async throws -> String {
        String(decoding: try await RawClient.exchange(port, Array(request.utf8)), as: UTF8.self)
    }

    // MARK: Time

    @Test
    func `a client that sends nothing is closed without an answer`() async throws {
        var limits = ConnectionLimits.long()
        limits.firstByte = Self.soon
        try await withServer(limits) { port in
            let answer = try await answer(port, "")
            #expect(answer.isEmpty)
        }
    }

    @Test
    func `a head that does not end is answered 408`() async throws {
        var limits = ConnectionLimits.long()
        limits.head = Self.soon
        try await withServer(limits) { port in
            for request in ["G", "GET / HTTP/1.1\r\nHost: a\r\nX: "] {
                let answer = try await answer(port, request)
                #expect(answer.contains("HTTP/1.1 408 Request Timeout\r\nConnection: close"))
            }
        }
    }

    @Test
    func `a body that does not end is answered 408`() async throws {
        var limits = ConnectionLimits.long()
        limits.body = Self.soon
        try await withServer(limits) { port in
            let chunked = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx"
            for request in ["POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nx", chunked] {
                let answer = try await answer(port, request)
                #expect(answer.hasPrefix("HTTP/1.1 408 "))
            }
        }
    }

    @Test
    func `a connection without another request is closed`() async throws {
        var limits = ConnectionLimits.long()
        limits.idle = Self.soon
        try await withServer(limits) { port in
            let answer = try await answer(port, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
            #expect(!answer.contains("Connection: close"))
        }
    }

    @Test
    func `an unwanted body is not read to its end`() async throws {
        var limits = ConnectionLimits.long()
        limits.farewell = Self.soon
        try await withServer(limits) { port in
            let answer = try await answer(
                port, "POST /unread HTTP/1.1\r\nHost: a\r\nContent-Length: 9999999999\r\n\r\nx")
            #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
        }
    }

    @Test
    func `a reader that does not read loses its connection`() async throws {
        var limits = ConnectionLimits.long()
        limits.write = Self.soon
        let (ends, ended) = AsyncStream<Void>.makeStream()
        try await withServer(limits, Probe(onEnd: { ended.yield() })) { port in
            let reader = try await silentClient(port, "GET /endless HTTP/1.1\r\nHost: a\r\n\r\n")
            for await _ in ends { break }
            try? await reader.close()
        }
    }

    // MARK: Crowds

    @Test
    func `a crowd of idle connections leaves room for a probe`() async throws {
        try await withServer(.long(connectionsMax: 8, streamsMax: 2)) { port in
            var crowd: [any Channel] = []
            for number in 0..<64 {
                crowd.append(try await silentClient(port, ["", "G", "POST / HTTP/1.1\r\nHost: a\r\n"][number % 3]))
            }
            #expect(try await RawClient.call(port, "GET", "/").status == 200)
            // The first connection was closed first.
            let first = try #require(crowd.first)
            try await first.closeFuture.get()
            for client in crowd { client.close(promise: nil) }
        }
    }

    @Test
    func `the oldest stream is closed, and streams leave room for other requests`() async throws {
        let (begins, begun) = AsyncStream<Void>.makeStream()
        let (ends, ended) = AsyncStream<Void>.makeStream()
        var limits = ConnectionLimits.long(connectionsMax: 8, streamsMax: 2)
        limits.streamTime = .zero
        try await withServer(limits, Probe(onBegin: { begun.yield() }, onEnd: { ended.yield() })) { port in
            var readers: [any Channel] = []
            for _ in 0..<4 {
                readers.append(try await silentClient(port, "GET /stream HTTP/1.1\r\nHost: a\r\n\r\n"))
                // One after the other: a stream that is closed before its answer begins does not report its end.
                for await _ in begins { break }
            }
            var count = 0
            for await _ in ends {
                count += 1
                if count == 2 { break }
            }
            #expect(try await RawClient.call(port, "GET", "/").status == 200)
            for reader in readers { reader.close(promise: nil) }
        }
    }

    @Test
    func `recent streams are not closed for clients that ask for more streams`() async throws {
        try await withServer(.long(connectionsMax: 8, streamsMax: 2)) { port in
            let request = "GET /stream HTTP/1.1\r\nHost: a\r\n\r\n"
            try await RawClient.holdAnswer(port, Array(request.utf8)) {
                try await RawClient.holdAnswer(port, Array(request.utf8)) {
                    for _ in 0..<4 {
                        let reply = try await RawClient.call(port, "GET", "/stream")
                        #expect(reply.status == 503)
                    }
                }
            }
        }
    }

    @Test
    func `requests are not accepted far ahead of their answers`() async throws {
        try await withServer(.long()) { port in
            let request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
            let answers = try await answer(port, String(repeating: request, count: 500))
            #expect(answers.components(separatedBy: "HTTP/1.1 200").count < 500)
        }
    }

    /// Connections that were closed to make room, and their successors, used to end the process.
    @Test(arguments: 0..<20)
    func `a server stops while clients displace one another's connections`(round: Int) async throws {
        let server = try await RunningServer.start(
            Probe(), host: "127.0.0.1", port: 0, limits: .long(connectionsMax: 4, streamsMax: 2))
        let port = server.port
        let callers = (0..<16).map { number in
            Task {
                let request = ["", "G", "GET / HTTP/1.1\r\nHost: a\r\n\r\n", "GET /stream HTTP/1.1\r\nHost: a\r\n\r\n"]
                while let client = try? await silentClient(port, request[number % 4]) { client.close(promise: nil) }
            }
        }
        for _ in 0..<4 { _ = try? await RawClient.call(port, "GET", "/") }
        await server.stop()
        for caller in callers { await caller.value }
    }

    /// Reads nothing but detects a close.
    private func silentClient(_ port: Int, _ bytes: String) async throws -> any Channel {
        let client = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(.autoRead, value: bytes.isEmpty || !bytes.hasSuffix("\r\n\r\n"))
            .connect(host: "127.0.0.1", port: port).get()
        try? await client.writeAndFlush(ByteBuffer(string: bytes))
        return client
    }

    // MARK: Requests

    @Test(arguments: [
        ("GET / HTTP/1.1\r\n", 400), ("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nhOST: b\r\n", 400), ("GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n", 400),
        ("GET / HTTP/1.0\r\n", 200), ("GET / HTTP/1.1\r\nhost: a\r\nConnection: close\r\n", 200),
        ("GET / HTTP/1.1\r\nhost: a\r\nConnection: Close\r\n", 200),
    ])
    func `a request must name one host`(request: String, status: Int) async throws {
        try await withServer(.long()) { port in
            let answer = try await answer(port, request + "\r\n")
            #expect(answer.contains(" \(status) "))
        }
    }

    @Test
    func `HEAD returns the head of the answer to GET`() async throws {
        try await withServer(.long()) { port in
            for (target, framing) in [("/", "content-length: 5"), ("/stream", "transfer-encoding: chunked")] {
                let request = "HEAD \(target) HTTP/1.1\r\nHost: a\r\n"
                let last = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
                let answers = try await answer(port, request + "\r\n" + last).lowercased()
                let parts = answers.components(separatedBy: "\r\n\r\n")
                #expect(parts.first?.contains(framing) == true)
                // The next answer follows at once.
                #expect(parts.dropFirst().first?.hasPrefix("http/1.1 200 ok") == true)
                #expect(parts.last == "hello")
            }
        }
    }

    @Test
    func `a client of HTTP 1_0 receives no chunks`() async throws {
        try await withServer(.long()) { port in
            let answer = try await answer(port, "GET /pieces HTTP/1.0\r\n\r\n")
            #expect(answer.hasPrefix("HTTP/1.0 200 OK\r\n"))
            #expect(answer.hasSuffix("\r\n\r\nonetwo"))
        }
    }
}

/// Answers `hello`; on `/stream` and `/endless` for as long as the connection is open.
private struct Probe: HTTPResponder {
    var onBegin: @Sendable () -> Void = {}
    var onEnd: @Sendable () -> Void = {}

    func respond(to request: Request, context: ConnectionContext) async throws -> Response {
        if request.uri.path != "/unread" { _ = try await request.body.collect(upTo: 65_536) }
        switch request.uri.path {
        case "/endless":
            let body = ResponseBody { writer in
                defer { onEnd() }
                while true { try await writer.write(ByteBuffer(repeating: 0x2e, count: 65_536)) }
            }
            return Response(status: .ok, body: body)
        case "/stream":
            guard await context.beginStream() else { return Response(status: .serviceUnavailable) }
            let isHead = request.method == .head
            let body = ResponseBody { writer in
                defer { onEnd() }
                onBegin()
                if !isHead {
                    try await writer.write(ByteBuffer(string: ":\n\n"))
                    try await context.channel.closeFuture.get()
                }
                try await writer.finish(nil)
            }
            return Response(status: .ok, headers: [.contentType: "text/event-stream"], body: body)
        case "/pieces":
            let body = ResponseBody { writer in
                for piece in ["one", "two"] { try await writer.write(ByteBuffer(string: piece)) }
                try await writer.finish(nil)
            }
            return Response(status: .ok, body: body)
        default: return Response(status: .ok, body: ResponseBody(byteBuffer: ByteBuffer(string: "hello")))
        }
    }
}
