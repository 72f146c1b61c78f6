import NIOCore
import NotificationHub
import Testing

@testable import HubIO

@Suite struct RequestWriterTests {
    private static func makeWriter(host: String = "ns.servicebus.windows.net", port: Int? = nil) throws -> RequestWriter
    {
        let endpoint = HubEndpoint(scheme: .https, host: host, port: port)
        var writer = RequestWriter(
            target: SendTarget(endpoint: endpoint, hub: try HubName("Breaking.News")), userAgent: "newswire/1")
        writer.authorization = "SharedAccessSignature sr=x"
        return writer
    }

    @Test func `a request has every header once, followed by its body`() throws {
        var writer = try Self.makeWriter()
        let request = SendRequest(
            format: .apple, tags: "World || Politics", fields: [HeaderField("apns-priority", "5")],
            body: Array("{}é".utf8))
        let text = writer.text(of: request)
        #expect(
            text == """
                POST /Breaking.News/messages?api-version=2020-06 HTTP/1.1\r
                Host: ns.servicebus.windows.net\r
                User-Agent: newswire/1\r
                Authorization: SharedAccessSignature sr=x\r
                Content-Type: application/json;charset=utf-8\r
                ServiceBusNotification-Format: apple\r
                ServiceBusNotification-Tags: World || Politics\r
                apns-priority: 5\r
                Content-Length: 4\r
                \r
                {}é
                """)
    }

    @Test func `one buffer serves many requests, even while one of them is being sent`() throws {
        var writer = try Self.makeWriter(host: "::1", port: 8443)
        let firstRange = writer.write(.sample("first"))
        let first = try #require(firstRange)
        let secondRange = writer.write(.sample("the second and longer one"))
        let second = try #require(secondRange)
        let sent = writer.buffer
        writer.reset()
        writer.authorization = "SharedAccessSignature sr=y"
        let third = writer.text(of: .sample("third")) ?? ""
        let texts = try [first, second].map {
            try String(buffer: #require(sent.getSlice(at: $0.lowerBound, length: $0.count)))
        }
        #expect(texts[0].hasPrefix("POST "))
        #expect(texts[0].hasSuffix(#"{"messageParam":"first"}"#))
        #expect(texts[1].hasPrefix("POST "))
        #expect(texts[1].hasSuffix(#"{"messageParam":"the second and longer one"}"#))
        #expect(texts[0].contains("sr=x"))
        #expect(third.hasSuffix(#"{"messageParam":"third"}"#))
        #expect(third.contains("Host: [::1]:8443\r\n"))
        #expect(third.contains("sr=y"))
    }

    @Test func `a question has no body and no fields of a send`() throws {
        var writer = try Self.makeWriter(host: "::1", port: 8443)
        for target in ["", "messages", "/a b", "/a\r\nHost: b", "/é"] {
            let refused = writer.write(question: target)
            #expect(refused == nil)
        }
        let range = writer.write(question: "/news/messages/1?api-version=2020-06")
        #expect(range == 0..<writer.buffer.writerIndex)
        #expect(
            String(buffer: writer.buffer) == """
                GET /news/messages/1?api-version=2020-06 HTTP/1.1\r
                Host: [::1]:8443\r
                User-Agent: newswire/1\r
                Authorization: SharedAccessSignature sr=x\r
                \r\n
                """)
    }

    @Test func `a refused request leaves no bytes behind, and the next one is whole`() throws {
        var writer = try Self.makeWriter(host: "::1", port: 8443)
        let firstRange = writer.write(.sample("first"))
        let first = try #require(firstRange)
        for request in Self.unsendable {
            let refused = writer.write(request)
            #expect(refused == nil)
        }
        let secondRange = writer.write(.sample("second"))
        let second = try #require(secondRange)
        #expect(second.lowerBound == first.upperBound)
        #expect(writer.buffer.readableBytes == second.upperBound)
    }

    @Test func `the memory of a large group is released`() throws {
        var writer = try Self.makeWriter(host: "::1", port: 8443)
        let large = SendRequest(format: .apple, tags: "World", body: Array(repeating: 65, count: 64_000))
        for _ in 0..<20 { _ = writer.write(large) }
        #expect(writer.buffer.capacity > 1 << 20)
        writer.reset()
        #expect(writer.buffer.capacity < 1 << 18)
        #expect(writer.buffer.readableBytes == 0)
    }

    static let unsendable: [SendRequest] = [
        SendRequest(format: .apple, tags: "", body: []),
        SendRequest(format: .apple, tags: " \t", body: []),
        SendRequest(format: .apple, tags: "World\r\nX: y", body: []),
        SendRequest(format: .apple, tags: "World\nX: y", body: []),
        SendRequest(format: .apple, tags: "World\u{0}", body: []),
        SendRequest(format: .apple, tags: "Wörld", body: []),
        SendRequest(format: .apple, tags: "World", fields: [HeaderField("X-A", "b\r\nHost: evil")], body: []),
        SendRequest(format: .apple, tags: "World", fields: [HeaderField("X-A: b\r\nX-B", "c")], body: []),
        SendRequest(format: .apple, tags: "World", fields: [HeaderField("", "c")], body: []),
        SendRequest(format: .apple, tags: "World", fields: [HeaderField("X A", "c")], body: []),
        SendRequest(format: .apple, tags: "World", fields: [HeaderField("X-A", "c\u{7F}")], body: []),
        SendRequest(format: .apple, tags: "World", fields: [HeaderField("content-LENGTH", "0")], body: []),
        SendRequest(format: .apple, tags: "World", fields: [HeaderField("Transfer-Encoding", "chunked")], body: []),
        SendRequest(format: .apple, tags: "World", fields: [HeaderField("servicebusnotification-tags", "")], body: []),
        SendRequest(format: .apple, tags: "World", fields: [HeaderField("Host", "evil")], body: []),
    ]

    @Test(arguments: unsendable)
    func `a value that would break the request is refused`(request: SendRequest) throws {
        var writer = try Self.makeWriter()
        let refused = writer.text(of: request)
        let next = writer.text(of: .sample())
        #expect(refused == nil)
        #expect(next?.hasSuffix("tables turn\"}") == true, "the next request is not harmed")
    }

    @Test(arguments: ["a\r\nX: y", "é", "a\u{0}"])
    func `a broken authorization sends nothing`(authorization: String) throws {
        var writer = try Self.makeWriter()
        writer.authorization = authorization
        let refused = writer.text(of: .sample())
        writer.authorization = "fine"
        let next = writer.text(of: .sample())
        #expect(refused == nil)
        #expect(next != nil)
    }
}

extension RequestWriter {
    fileprivate mutating func text(of request: SendRequest) -> String? {
        defer { reset() }
        guard let range = write(request) else { return nil }
        return buffer.getString(at: range.lowerBound, length: range.count)
    }
}
