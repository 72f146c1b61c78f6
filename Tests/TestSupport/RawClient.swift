import NIOCore
import NIOPosix

/// One request on its own connection, with handwritten bytes.
package enum RawClient {
    package struct Reply: Sendable {
        package var status: Int
        /// The header fields, with names in lower case.
        package var headers: [String: String]
        package var body: [UInt8]

        package var text: String { String(decoding: body, as: UTF8.self) }

        package init(_ bytes: [UInt8]) throws {
            let end = Array("\r\n\r\n".utf8)
            guard let split = bytes.indices.first(where: { bytes[$0...].starts(with: end) }) else { throw NoReply() }
            let lines = String(decoding: bytes[..<split], as: UTF8.self).split(separator: "\r\n")
            guard let status = lines.first.flatMap({ Int($0.split(separator: " ").dropFirst().first ?? "") }) else {
                throw NoReply()
            }
            self.status = status
            headers = [:]
            for line in lines.dropFirst() {
                let sides = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
                headers[sides[0].lowercased()] = sides.count > 1 ? String(sides[1].drop { $0 == " " }) : ""
            }
            body = Array(bytes[(split + 4)...])
        }
    }

    package struct NoReply: Error {}

    package static func call(
        _ port: Int, _ method: String, _ target: String, headers: [(String, String)] = [], body: String = ""
    ) async throws -> Reply {
        try await call(port, method, target, headers: headers, bytes: Array(body.utf8))
    }

    package static func call(
        _ port: Int, _ method: String, _ target: String, headers: [(String, String)] = [], bytes body: [UInt8]
    ) async throws -> Reply {
        var head = "\(method) \(target) HTTP/1.1\r\nConnection: close\r\n"
        if !headers.contains(where: { $0.0 == "Host" }) { head += "Host: 127.0.0.1:\(port)\r\n" }
        for (name, value) in headers { head += "\(name): \(value)\r\n" }
        if !body.isEmpty || method != "GET" { head += "Content-Length: \(body.count)\r\n" }
        return try Reply(try await exchange(port, Array((head + "\r\n").utf8) + body))
    }

    /// Reads everything that the server sends until it closes. A reset returns the bytes before it.
    package static func exchange(_ port: Int, _ bytes: [UInt8]) async throws -> [UInt8] {
        try await connect(port, ByteBuffer(bytes: bytes)).executeThenClose { inbound, _ in
            var received: [UInt8] = []
            do {
                for try await buffer in inbound { received += buffer.readableBytesView }
            } catch is IOError {
            }
            return received
        }
    }

    /// Reads server-sent events until `body` returns a value for one.
    package static func events<Found>(
        _ port: Int, _ target: String, after last: Int? = nil, _ body: (String) throws -> Found?
    ) async throws -> Found {
        var head = "GET \(target) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n"
        if let last { head += "Last-Event-ID: \(last)\r\n" }
        return try await connect(port, ByteBuffer(string: head + "\r\n")).executeThenClose { inbound, _ in
            var received = ""
            for try await buffer in inbound {
                received += String(buffer: buffer)
                while let start = received.firstRange(of: "data: "),
                    let end = received[start.upperBound...].firstRange(of: "\n\n")
                {
                    if let found = try body(String(received[start.upperBound..<end.lowerBound])) { return found }
                    received.removeSubrange(..<end.upperBound)
                }
            }
            throw NoReply()
        }
    }

    /// The status lines of two replies: one to the head, and one to the body that is sent after it.
    package static func lines(_ port: Int, _ head: String, answer body: String) async throws -> [String] {
        try await connect(port, ByteBuffer(string: head)).executeThenClose { inbound, outbound in
            var lines: [String] = []
            for try await buffer in inbound {
                lines += String(buffer: buffer).split(separator: "\r\n").prefix(1).map(String.init)
                if lines.count == 2 { break }
                try await outbound.write(ByteBuffer(string: body))
            }
            return lines
        }
    }

    /// Sends bytes and keeps the connection open while `body` runs. Replies are ignored.
    package static func hold(_ port: Int, _ bytes: [UInt8], while body: () async throws -> Void) async throws {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(.allowRemoteHalfClosure, value: true)
            .connect(host: "127.0.0.1", port: port).get()
        try await channel.writeAndFlush(ByteBuffer(bytes: bytes))
        try await body()
        try? await channel.close()
    }

    /// Sends, waits until an answer begins, and keeps the connection open while `body` runs.
    package static func holdAnswer(_ port: Int, _ bytes: [UInt8], while body: () async throws -> Void) async throws {
        try await connect(port, ByteBuffer(bytes: bytes)).executeThenClose { inbound, _ in
            var answer = inbound.makeAsyncIterator()
            _ = try await answer.next()
            try await body()
        }
    }

    private static func connect(
        _ port: Int, _ request: ByteBuffer
    ) async throws -> NIOAsyncChannel<ByteBuffer, ByteBuffer> {
        try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(RequestAtOnce(request))
                    return try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
    }
}

/// Writes as soon as the connection is active. A test that wrote itself could be delayed beyond the server's time limit
/// by tests that block its threads.
private final class RequestAtOnce: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let request: ByteBuffer

    init(_ request: ByteBuffer) { self.request = request }

    func channelActive(context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(request), promise: nil)
        context.fireChannelActive()
    }
}
