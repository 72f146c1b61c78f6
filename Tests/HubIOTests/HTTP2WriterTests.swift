import NIOCore
import NIOHPACK
import NotificationHub
import Testing

@testable import HubIO

@Suite struct HTTP2WriterTests {
    private static func makeWriter(scheme: HubEndpoint.Scheme = .https) throws -> HTTP2Writer {
        let endpoint = HubEndpoint(scheme: scheme, host: "ns.servicebus.windows.net")
        var writer = HTTP2Writer(
            target: SendTarget(endpoint: endpoint, hub: try HubName("Breaking.News")), userAgent: "newswire/1")
        writer.authorization = "SharedAccessSignature sr=x"
        return writer
    }

    /// The server's side of HPACK, by swift-nio-http2.
    private struct Server {
        var decoder = HPACKDecoder_NIO(allocator: ByteBufferAllocator(), maxDynamicTableSize: 4096)

        /// The fields and the body of the written requests, by stream.
        mutating func read(_ frames: [Frame], payloadMax: Int = 16_384) throws -> [UInt32: ([[String]], [UInt8])] {
            var requests: [UInt32: ([[String]], [UInt8])] = [:]
            var block: [UInt8] = []
            for (index, frame) in frames.enumerated() {
                #expect(frame.payload.count <= payloadMax)
                switch frame.kind {
                case 1, 9:
                    block += frame.payload
                    guard frame.flags & 4 != 0 else {
                        #expect(frames[index + 1].kind == 9 && frames[index + 1].stream == frame.stream)
                        continue
                    }
                    var buffer = ByteBuffer(bytes: block)
                    block = []
                    requests[frame.stream] = (try decoder.decodeHeaders(from: &buffer).map { [$0.name, $0.value] }, [])
                case 0:
                    requests[frame.stream]?.1 += frame.payload
                    let next = index + 1 < frames.count ? frames[index + 1] : nil
                    #expect((frame.flags & 1 != 0) == (next?.kind != 0 || next?.stream != frame.stream))
                default: break
                }
            }
            return requests
        }
    }

    private static let request = SendRequest(
        format: .apple, tags: " World || Politics\t", fields: [HeaderField("Apns-Priority", " 5 ")],
        body: Array("{}é".utf8))

    private static func fields(authorization: String = "SharedAccessSignature sr=x") -> [[String]] {
        [
            [":method", "POST"], [":scheme", "https"], [":authority", "ns.servicebus.windows.net"],
            [":path", "/Breaking.News/messages?api-version=2020-06"], ["user-agent", "newswire/1"],
            ["authorization", authorization], ["content-type", "application/json;charset=utf-8"],
            ["servicebusnotification-format", "apple"], ["servicebusnotification-tags", "World || Politics"],
            ["apns-priority", "5"], ["content-length", "4"],
        ]
    }

    @Test func `a request has every field once, followed by its body`() throws {
        var writer = try Self.makeWriter()
        var server = Server()
        for (index, stream) in stride(from: UInt32(1), to: 21, by: 2).enumerated() {
            let range = writer.write(Self.request, stream: stream)
            #expect(range == 0..<writer.buffer.writerIndex)
            let frames = writer.takeFrames()
            #expect(frames.map(\.kind) == [1, 0])
            let read = try server.read(frames)
            #expect(read[stream]?.0 == Self.fields())
            #expect(read[stream]?.1 == Self.request.body)
            if index > 0 { #expect(frames[0].payload.count < 60, "constant fields take one byte") }
        }
    }

    @Test func `a request without a body ends its stream with the header block`() throws {
        var writer = try Self.makeWriter(scheme: .http)
        _ = writer.write(SendRequest(format: .windows, tags: "a", body: [], isRaw: true), stream: 7)
        let frames = writer.takeFrames()
        #expect(frames.map(\.kind) == [1])
        #expect(frames[0].flags == 5)
        var server = Server()
        let fields = try server.read(frames)[7]?.0 ?? []
        #expect(fields.contains([":scheme", "http"]))
        #expect(fields.contains(["content-type", "application/octet-stream"]))
        #expect(fields.contains(["content-length", "0"]))
    }

    @Test func `questions between sends have their own target and change no field of a send`() throws {
        var writer = try Self.makeWriter()
        var server = Server()
        let refused = writer.write(question: "/a b", stream: 1)
        #expect(refused == nil)
        for stream in stride(from: UInt32(1), to: 21, by: 2) {
            let target = stream == 9 ? "/\(String(repeating: "x", count: 40_000))" : "/messages/\(stream)"
            let isQuestion = stream % 4 == 1
            let range =
                isQuestion
                ? writer.write(question: target, stream: stream) : writer.write(Self.request, stream: stream)
            #expect(range == 0..<writer.buffer.writerIndex)
            server.decoder.maxHeaderListSize = 50_000
            let read = try server.read(writer.takeFrames())
            let question = [
                [":method", "GET"], [":scheme", "https"], [":authority", "ns.servicebus.windows.net"],
                [":path", target], ["user-agent", "newswire/1"], ["authorization", "SharedAccessSignature sr=x"],
            ]
            #expect(read[stream]?.0 == (isQuestion ? question : Self.fields()))
            #expect(read[stream]?.1 == (isQuestion ? [] : Self.request.body))
        }
    }

    @Test func `a long body and a long header block are split into frames of the permitted size`() throws {
        for payloadMax in [16_384, 16_385, 20_000, 70_000] {
            var writer = try Self.makeWriter()
            var settings = HTTP2PeerSettings()
            settings.maxFrameSize = UInt32(payloadMax)
            writer.acknowledge(settings)
            var server = Server()
            server.decoder.maxHeaderListSize = 200_000
            for (index, length) in [0, 1, 16_384, 16_385, 32_768, 64_000].enumerated() {
                let stream = UInt32(index * 2 + 1)
                let request = SendRequest(
                    format: .apple, tags: String(repeating: "t", count: length + 1),
                    fields: [HeaderField("x-a", String(repeating: "v", count: length))],
                    body: (0..<length).map { UInt8(truncatingIfNeeded: $0) })
                _ = writer.write(request, stream: stream)
                let read = try server.read(writer.takeFrames(), payloadMax: payloadMax)
                #expect(read[stream]?.0.contains(["servicebusnotification-tags", request.tags]) == true)
                #expect(read[stream]?.0.contains(["x-a", request.fields[0].value]) == true)
                #expect(read[stream]?.1 == request.body)
            }
        }
    }

    @Test(arguments: [0, 1, 60, 100, 200, 300, 500, 4095, 4096, 100_000])
    func `a table size that the server permits is kept`(size: Int) throws {
        var writer = try Self.makeWriter()
        var server = Server()
        var stream: UInt32 = 1
        for permitted in [4096, size, size, 4096] {
            var settings = HTTP2PeerSettings()
            settings.headerTableSize = UInt32(permitted)
            writer.acknowledge(settings)
            // The decoder throws if a size update is missing or an index refers to an evicted entry.
            server.decoder.maxDynamicTableLength = min(permitted, 4096)
            for format in [Platform.apple, .fcmv1, .apple, .windows] {
                var request = Self.request
                request.format = format
                _ = writer.write(request, stream: stream)
                let fields = try server.read(writer.takeFrames())[stream]?.0
                #expect(fields?.count == 11)
                if format == .apple { #expect(fields == Self.fields()) }
                stream += 2
            }
        }
    }

    @Test func `renewed authorizations reach the server, however many there are`() throws {
        var writer = try Self.makeWriter()
        var server = Server()
        for number in 0..<100 {
            let authorization = "SharedAccessSignature \(String(repeating: "s", count: number * 40))"
            writer.authorization = authorization
            for format in [Platform.apple, .apple] {
                var request = Self.request
                request.format = format
                let stream = UInt32(number * 4 + 1)
                _ = writer.write(request, stream: stream)
                let read = try server.read(writer.takeFrames())
                #expect(read[stream]?.0 == Self.fields(authorization: authorization.withoutTrailingSpace))
            }
        }
    }

    @Test func `a refused request leaves no bytes behind, and does not change the server's table`() throws {
        var writer = try Self.makeWriter()
        var server = Server()
        let unsendable =
            RequestWriterTests.unsendable
            + ["Connection", "upgrade", "TE", "Keep-Alive", "proxy-connection", "HTTP2-Settings", ":path"].map {
                SendRequest(format: .apple, tags: "a", fields: [HeaderField($0, "x")], body: [])
            }
        for (index, request) in unsendable.enumerated() {
            let refused = writer.write(request, stream: 1)
            #expect(refused == nil, "\(request)")
            #expect(writer.buffer.readableBytes == 0)
            guard index.isMultiple(of: 3) else { continue }
            let stream = UInt32(index * 2 + 1)
            _ = writer.write(Self.request, stream: stream)
            #expect(try server.read(writer.takeFrames())[stream]?.0 == Self.fields())
        }
    }

    @Test(arguments: ["a\r\nX: y", "é", "a\u{0}"])
    func `a broken authorization sends nothing`(authorization: String) throws {
        var writer = try Self.makeWriter()
        writer.authorization = authorization
        let refused = writer.write(Self.request, stream: 1)
        writer.authorization = "fine"
        let next = writer.write(Self.request, stream: 1)
        #expect(refused == nil)
        #expect(next != nil)
    }

    @Test func `a connection begins with the preface, settings and a window update`() throws {
        var writer = try Self.makeWriter()
        writer.writePreface(HTTP2LocalSettings(headBytesMax: 16_384, bodyBytesMax: 65_536))
        let bytes = Array(writer.buffer.readableBytesView)
        #expect(bytes.starts(with: Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)))
        #expect(
            Frame.all(in: Array(bytes.dropFirst(24))) == [
                .settings([(1, 0), (2, 0), (4, 131_072), (6, 16_384)]), .windowUpdate(0, (1 << 20) - 65_535),
            ])
    }

    @Test func `control frames carry their values`() throws {
        var writer = try Self.makeWriter()
        writer.acknowledge(HTTP2PeerSettings())
        writer.writePing(0x0102_0304_0506_0708, isAnswer: false)
        writer.writePing(1, isAnswer: true)
        writer.writeWindowUpdate(stream: 0x7FFF_FFFF, increment: 0x7FFF_FFFF)
        writer.writeReset(stream: 5, .cancel)
        writer.writeGoAway(.flowControlError)
        #expect(
            writer.takeFrames() == [
                .settings(ack: true), Frame(kind: 6, payload: [1, 2, 3, 4, 5, 6, 7, 8]),
                Frame(kind: 6, flags: 1, payload: [0, 0, 0, 0, 0, 0, 0, 1]), .windowUpdate(0x7FFF_FFFF, 0x7FFF_FFFF),
                .reset(5, 8), Frame(kind: 7, payload: [0, 0, 0, 0, 0, 0, 0, 3]),
            ])
    }
}

private typealias HPACKDecoder_NIO = NIOHPACK.HPACKDecoder

extension String {
    fileprivate var withoutTrailingSpace: String { hasSuffix(" ") ? String(dropLast()) : self }
}

extension HTTP2Writer {
    fileprivate mutating func takeFrames() -> [Frame] {
        defer { reset() }
        return Frame.all(in: Array(buffer.readableBytesView))
    }
}
