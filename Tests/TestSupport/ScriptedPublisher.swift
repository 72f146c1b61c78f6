package import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A publisher on real sockets that answers each request as its script specifies. Each connection carries one request.
package final class ScriptedPublisher: Sendable {
    package struct Request: Sendable {
        /// The path and query.
        package var path: String
        package var method: String
        /// The header fields, with names in lower case.
        package var headers: [String: String]
        package var body: String
        /// The number of earlier requests for the same path.
        package var earlier: Int
    }

    package enum Answer: Sendable {
        /// Sends these bytes, then ends the connection.
        case bytes([UInt8])
        /// Sends the pieces with a pause after each, then ends the connection.
        case pieces([[UInt8]], every: TimeAmount)
        /// Sends the head, then repeats the piece until the reader disconnects.
        case endless(head: String, piece: [UInt8])
        case close
        case reset
        case silence

        package static func text(_ bytes: String) -> Answer { .bytes(Array(bytes.utf8)) }

        package static func status(
            _ status: Int, _ headers: [(String, String)] = [], body: some Sequence<UInt8> = [UInt8]()
        ) -> Answer {
            let body = Array(body)
            let fields = (headers + [("Content-Length", "\(body.count)")]).map { "\($0.0): \($0.1)\r\n" }.joined()
            return .bytes(Array("HTTP/1.1 \(status) Because\r\n\(fields)\r\n".utf8) + body)
        }

        package static func redirect(_ status: Int, to location: String) -> Answer {
            .status(status, [("Location", location)])
        }
    }

    package let port: Int
    private let isSecure: Bool
    private let box: Box

    package var requests: [Request] { box.state.withLock { $0.requests } }
    /// The number of connections, with or without a request.
    package var accepted: Int { box.state.withLock { $0.accepted } }
    /// The number of bytes passed to sockets, before TLS.
    package var sent: Int { box.state.withLock { $0.sent } }

    private struct State {
        var requests: [Request] = []
        var accepted = 0
        var sent = 0
        var open: [ObjectIdentifier: any Channel] = [:]
    }

    private final class Box: Sendable {
        let state = Mutex(State())
        let script: @Sendable (Request) -> Answer

        init(_ script: @escaping @Sendable (Request) -> Answer) { self.script = script }
    }

    private let server: any Channel

    private init(_ server: any Channel, _ box: Box, isSecure: Bool) {
        self.server = server
        self.box = box
        self.isSecure = isSecure
        port = server.localAddress?.port ?? 0
    }

    /// - Parameters:
    ///   - certificate: PEM of `TestCertificates`; with one, the publisher speaks TLS.
    ///   - host: the address to listen on. `0.0.0.0` listens on all, so that each feed can have its own host in 127/8.
    ///   - greeting: the step for a connection before any request.
    package static func start(
        certificate: String? = nil, host: String = "127.0.0.1", greeting: Answer? = nil,
        script: @escaping @Sendable (Request) -> Answer
    ) async throws -> ScriptedPublisher {
        let tls = try certificate.map { certificate in
            try NIOSSLContext(
                configuration: .makeServerConfiguration(
                    certificateChain: NIOSSLCertificate.fromPEMBytes(Array(certificate.utf8)).map { .certificate($0) },
                    privateKey: .privateKey(NIOSSLPrivateKey(bytes: Array(TestCertificates.key.utf8), format: .pem))))
        }
        let box = Box(script)
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 1_024)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls { try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls)) }
                    try channel.pipeline.syncOperations.addHandler(Actor(box, greeting))
                }
            }
            .bind(host: host, port: 0).get()
        return ScriptedPublisher(server, box, isSecure: tls != nil)
    }

    package func url(_ path: String, host: String = "127.0.0.1") -> String {
        "\(isSecure ? "https" : "http")://\(host):\(port)\(path)"
    }

    package func stop() async {
        try? await server.close()
        for channel in box.state.withLock({ Array($0.open.values) }) { try? await channel.close() }
    }

    private final class Actor: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let box: Box
        private var received = ""

        private let greeting: Answer?

        init(_ box: Box, _ greeting: Answer?) {
            self.box = box
            self.greeting = greeting
        }

        func channelActive(context: ChannelHandlerContext) {
            box.state.withLock {
                $0.accepted += 1
                $0.open[ObjectIdentifier(context.channel)] = context.channel
            }
            if let greeting { perform(greeting, context.channel) }
            context.fireChannelActive()
        }

        func channelInactive(context: ChannelHandlerContext) {
            _ = box.state.withLock { $0.open.removeValue(forKey: ObjectIdentifier(context.channel)) }
            context.fireChannelInactive()
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            received += String(buffer: unwrapInboundIn(data))
            if greeting == nil, let request = takeRequest() { perform(box.script(request), context.channel) }
        }

        private func perform(_ answer: Answer, _ channel: any Channel) {
            switch answer {
            case .bytes(let bytes): Self.write([bytes], .zero, to: channel, box)
            case .pieces(let pieces, let pause): Self.write(pieces[...], pause, to: channel, box)
            case .endless(let head, let piece):
                channel.writeAndFlush(ByteBuffer(string: head), promise: nil)
                Self.write(ByteBuffer(bytes: piece), to: channel, box)
            case .close: channel.close(promise: nil)
            case .reset:
                (channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
                    .whenComplete { _ in channel.close(promise: nil) }
            case .silence: break
            }
        }

        private func takeRequest() -> Request? {
            guard let end = received.firstRange(of: "\r\n\r\n") else { return nil }
            let lines = received[..<end.lowerBound].split(separator: "\r\n")
            let words = (lines.first ?? "").split(separator: " ").map(String.init)
            var headers: [String: String] = [:]
            for line in lines.dropFirst() {
                let parts = line.split(separator: ":", maxSplits: 1).map(String.init)
                headers[parts[0].lowercased()] = String((parts.count > 1 ? parts[1] : "").drop { $0 == " " })
            }
            let body = received[end.upperBound...]
            guard words.count > 1, body.utf8.count >= Int(headers["content-length"] ?? "") ?? 0 else { return nil }
            received = ""
            return box.state.withLock {
                let request = Request(
                    path: words[1], method: words[0], headers: headers, body: String(body),
                    earlier: $0.requests.count { $0.path == words[1] })
                $0.requests.append(request)
                return request
            }
        }

        private static func write(
            _ pieces: ArraySlice<[UInt8]>, _ pause: TimeAmount, to channel: any Channel, _ box: Box
        ) {
            guard let piece = pieces.first else { return channel.close(promise: nil) }
            let loop = channel.eventLoop
            channel.writeAndFlush(ByteBuffer(bytes: piece)).whenSuccess {
                box.state.withLock { $0.sent += piece.count }
                let rest = pieces.dropFirst()
                if rest.isEmpty || pause == .zero { return write(rest, pause, to: channel, box) }
                loop.scheduleTask(in: pause) { write(rest, pause, to: channel, box) }
            }
        }

        private static func write(_ piece: ByteBuffer, to channel: any Channel, _ box: Box) {
            let loop = channel.eventLoop
            channel.writeAndFlush(piece).whenSuccess {
                box.state.withLock { $0.sent += piece.readableBytes }
                loop.execute { write(piece, to: channel, box) }
            }
        }
    }
}
