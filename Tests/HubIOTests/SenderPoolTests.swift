import HubIO
import HubModel
import NIOCore
import NotificationHub
import Synchronization
import Testing

@Suite struct SenderPoolTests {
    private static let created = "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n"

    static let statuses = [
        200, 201, 204, 304, 400, 401, 403, 404, 405, 408, 409, 410, 412, 413, 429, 500, 502, 503, 504,
    ]

    @Test(arguments: statuses, [true, false])
    func `every status is read, with a length and in chunks`(status: Int, isFull: Bool) async throws {
        let hub = try await ScriptedHub.start { number in
            let fields =
                isFull
                ? "Location: http://h/breaking-news/messages/NH-\(number)?api-version=2020-06\r\nRetry-After: 12\r\nTrackingId: t-\(number)\r\n"
                : ""
            let body =
                status == 204 || status == 304 ? "" : "<Error><Code>\(status)</Code><Detail>Why.</Detail></Error>"
            return .reply(
                number == 0
                    ? "HTTP/1.1 \(status) X\r\n\(fields)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
                    : "HTTP/1.1 \(status) X\r\n\(fields)"
                        + (body.isEmpty
                            ? "\r\n"
                            : "Transfer-Encoding: chunked\r\n\r\n\(String(body.utf8.count, radix: 16))\r\n\(body)\r\n0\r\n\r\n")
            )
        }
        let sender = try await Sender(port: hub.port)
        for number in 0..<2 {
            let hasDetail = status >= 300 && status != 304
            let expected = HubReply(
                status: status, retryAfter: isFull ? .seconds(12) : nil, notificationID: isFull ? "NH-\(number)" : nil,
                trackingID: isFull ? "t-\(number)" : nil, detail: hasDetail ? "Why." : nil)
            #expect(await sender.send().reply == expected)
        }
        #expect(hub.accepted == 1, "the connection is kept")
        try await sender.close()
        try await hub.stop()
    }

    @Test func `the hub receives the request as written`() async throws {
        let hub = try await ScriptedHub.start { _ in .reply(Self.created) }
        let sender = try await Sender(port: hub.port)
        #expect(await sender.send().reply?.status == 201)
        let request = try #require(hub.requests.first)
        #expect(
            request.hasPrefix(
                "POST /breaking-news/messages?api-version=2020-06 HTTP/1.1\r\nHost: 127.0.0.1:\(hub.port)\r\n"))
        #expect(request.contains("\r\nAuthorization: SharedAccessSignature sr=test\r\n"))
        #expect(request.hasSuffix("\r\n\r\n{\"messageParam\":\"Breaking World News : tables turn\"}"))
        try await sender.close()
        try await hub.stop()
    }

    @Test func `the reply to a question keeps its body, and that to a send does not`() async throws {
        let hub = try await ScriptedHub.start { _ in .reply("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwords") }
        let sender = try await Sender(port: hub.port)
        #expect(await sender.send().reply?.body == [])
        #expect(await sender.ask("/news").reply?.body == Array("words".utf8))
        #expect(await sender.send().reply?.body == [])
        #expect(hub.requests.map { $0.prefix(5) } == ["POST ", "GET /", "POST "])
        #expect(hub.accepted == 1)
        try await sender.close()
        try await hub.stop()
    }

    @Test func `a reply cut anywhere on the wire arrives whole`() async throws {
        let reply =
            "HTTP/1.1 201 Created\r\nLocation: /m/messages/NH-7\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
        let length = reply.utf8.count
        let hub = try await ScriptedHub.start { number in
            guard number > 0 else { return .pieces(reply.map { String($0) }) }
            return .pieces([String(reply.utf8.prefix(number)) ?? "", String(reply.utf8.dropFirst(number)) ?? ""])
        }
        let sender = try await Sender(port: hub.port)
        for cut in 0..<length {
            #expect(await sender.send().reply == HubReply(status: 201, notificationID: "NH-7"), "cut at \(cut)")
        }
        #expect(hub.accepted == 1)
        try await sender.close()
        try await hub.stop()
    }

    @Test func `after a reply with Connection: close the next request gets a new connection`() async throws {
        let hub = try await ScriptedHub.start { _ in
            .reply("HTTP/1.1 201 C\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
        }
        let sender = try await Sender(port: hub.port, limits: .test.with { $0.connections = 1 })
        for _ in 0..<3 { #expect(await sender.send().reply?.status == 201) }
        #expect(hub.accepted == 3)
        try await sender.close()
        try await hub.stop()
    }

    @Test func `a body may end with the connection`() async throws {
        let hub = try await ScriptedHub.start { _ in
            .replyThenClose("HTTP/1.1 502 Bad\r\n\r\n<Error><Code>502</Code><Detail>gateway</Detail></Error>")
        }
        let sender = try await Sender(port: hub.port)
        #expect(await sender.send().reply == HubReply(status: 502, detail: "gateway"))
        try await sender.close()
        try await hub.stop()
    }

    static let broken: [(step: ScriptedHub.Step, kind: SendFailure.Kind)] = [
        (.reset, .reset), (.close, .closedEarly),
        (.replyThenReset("HTTP/1.1 201 Created\r\nContent-Le"), .reset),
        (.replyThenReset("HTTP/1.1 500 E\r\n\r\nhalf a bo"), .reset),
        (.replyThenClose("HTTP/1.1 201 Created\r\nContent-Length: 3\r\n\r\nab"), .closedEarly),
        (.replyThenClose("HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n"), .closedEarly),
        (.reply("SSH-2.0-OpenSSH_9.2p1\r\n"), .malformedReply),
        (.reply("HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\nHTTP/1.1 201 C"), .malformedReply),
        (.reply("HTTP/1.1 201 Created\r\nX: \(String(repeating: "x", count: 100_000))"), .malformedReply),
        (.reply("HTTP/1.1 500 E\r\n\r\n\(String(repeating: "x", count: 1_000_000))"), .malformedReply),
        (.reply("HTTP/1.1 500 E\r\nContent-Length: 99999999999\r\n\r\n"), .malformedReply),
    ]

    @Test(arguments: broken)
    func `a broken reply is unknown and ends only its own connection`(step: ScriptedHub.Step, kind: SendFailure.Kind)
        async throws
    {
        let hub = try await ScriptedHub.start { number in number == 1 ? step : .reply(Self.created) }
        let sender = try await Sender(
            port: hub.port,
            limits: .test.with { $0.connections = 1 })
        #expect(await sender.send().reply?.status == 201)
        let result = await sender.send()
        // Data that meets the other side's close may cause a reset. Both kinds mean the same here.
        #expect(result.unknown == kind || kind == .closedEarly && result.unknown == .reset, "\(result)")
        #expect(await sender.send().reply?.status == 201)
        #expect(hub.accepted == 2)
        try await sender.close()
        try await hub.stop()
    }

    @Test(arguments: [ScriptedHub.Step.silence, .reply("HTTP/1.1 201 Created\r\nContent-Le")])
    func `a reply that never ends times out`(step: ScriptedHub.Step) async throws {
        let hub = try await ScriptedHub.start { _ in step }
        let sender = try await Sender(port: hub.port, limits: .test.with { $0.requestTimeout = .milliseconds(50) })
        async let other = sender.send()
        #expect(await sender.send().unknown == .requestTimeout)
        #expect(await other.unknown == .requestTimeout)
        try await sender.until { $0.openConnections == 0 }
        try await sender.close()
        try await hub.stop()
    }

    @Test(arguments: [
        ScriptedHub.Step.replyThenReset(created), .replyThenClose(created),
    ])
    func `the end of a connection after a complete reply affects no request`(step: ScriptedHub.Step) async throws {
        let hub = try await ScriptedHub.start { _ in step }
        let sender = try await Sender(port: hub.port)
        #expect(await sender.send().reply?.status == 201)
        try await sender.until { $0.openConnections == 0 }
        #expect(await sender.send().reply?.status == 201)
        try await sender.close()
        try await hub.stop()
    }

    @Test func `a thousand requests over eight connections are answered once each, to the right caller`() async throws {
        let hub = try await ScriptedHub.start { number in
            .reply("HTTP/1.1 201 C\r\nContent-Length: 0\r\nTrackingId: t-\(number)\r\n\r\n")
        }
        let sender = try await Sender(
            port: hub.port,
            limits: .test.with {
                $0.connections = 8
                $0.waitingMax = 1000
            })
        let trackingIDs = await withTaskGroup(of: (Int, String?).self) { group in
            for number in 0..<1000 {
                group.addTask { (number, await sender.send(.sample("message <\(number)>")).reply?.trackingID) }
            }
            return await group.reduce(into: [Int: String]()) { $0[$1.0] = $1.1 }
        }
        let requests = hub.requests
        #expect(requests.count == 1000)
        #expect(trackingIDs.count == 1000)
        for (number, trackingID) in trackingIDs {
            let place = try #require(Int(trackingID.dropFirst(2)))
            #expect(requests[place].contains("message <\(number)>"))
        }
        #expect(hub.accepted <= 8)
        #expect(try await sender.strays == 0)
        try await sender.close()
        try await hub.stop()
    }

    @Test func `a refused connection sends nothing and fails each request`() async throws {
        let hub = try await ScriptedHub.start { _ in .silence }
        try await hub.stop()
        let sender = try await Sender(port: hub.port, limits: .test.with { $0.waitingMax = 8 })
        let kinds = await withTaskGroup(of: SendFailure.Kind?.self) { group in
            for _ in 0..<8 { group.addTask { await sender.send().notSent } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(kinds == Array(repeating: .connectRefused, count: 8))
        try await sender.close()
    }

    @Test func `a name without an address sends nothing`() async throws {
        let sender = try await Sender(port: 80, host: String(repeating: "x", count: 64) + ".invalid")
        #expect(await sender.send().notSent == .dns)
        try await sender.close()
    }

    @Test func `an invalid request costs no connection, and an excess one is refused at once`() async throws {
        let hub = try await ScriptedHub.start { number in number == 0 ? .silence : .reply(Self.created) }
        let sender = try await Sender(
            port: hub.port,
            limits: .test.with {
                $0.connections = 1
                $0.waitingMax = 1
            })
        async let first = sender.send()
        await hub.received(1)
        async let second = sender.send(SendRequest(format: .template, tags: "a\r\nb", body: []))
        try await sender.until { _ in sender.sent == 2 }
        #expect(await sender.send().notSent == .queueFull)
        await hub.closeConnections()
        #expect(await first.unknown == .closedEarly)
        #expect(await second.notSent == .invalidRequest)
        #expect(await sender.send().reply?.status == 201)
        #expect(hub.accepted == 2)
        try await sender.close()
        try await hub.stop()
    }

    @Test func `a large request is sent whole`() async throws {
        let hub = try await ScriptedHub.start { _ in .reply(Self.created) }
        let sender = try await Sender(port: hub.port)
        let body = String(repeating: "n", count: 2_000_000)
        #expect(await sender.send(.sample(body)).reply?.status == 201)
        #expect(await sender.send(.sample("small")).reply?.status == 201)
        #expect(hub.requests.first?.hasSuffix(body + "\"}") == true)
        #expect(hub.requests.last?.hasSuffix("{\"messageParam\":\"small\"}") == true)
        try await sender.close()
        try await hub.stop()
    }
}
