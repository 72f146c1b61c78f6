import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS
import Synchronization
import TestSupport

/// A hub that speaks HTTP/2 over TLS on real sockets, frame by frame as its script says. If the client does not choose HTTP/2, it
/// answers each request over HTTP/1.1 with 201.
final class ScriptedHTTP2Hub: Sendable {
    /// The hub's answer when a request's head has arrived, before it reads the body, as nginx answers.
    enum Step: Sendable {
        case frames([Frame])
        case framesThenClose([Frame])
    }

    struct State {
        /// The streams of the requests, in the order of their arrival, with the number of their connection.
        var requests: [(connection: Int, stream: UInt32)] = []
        var olderRequests = 0
        var accepted = 0
        /// Frames other than HEADERS and DATA: their types and the first byte of their flags.
        var controlFrames: [(type: UInt8, flags: UInt8, stream: UInt32)] = []
        var channels: [any Channel] = []
    }

    let state = Mutex(State())
    private let greeting: [UInt8]
    private let script: @Sendable (_ number: Int, _ stream: UInt32) -> Step
    private let server = Mutex<(any Channel)?>(nil)

    /// - Parameters:
    ///   - greeting: what the hub sends first; by default its settings and the acknowledgement of the client's.
    ///   - script: receives the number of the request, from 0, over all connections, and its stream.
    static func start(
        greeting: [Frame] = [.settings(), .settings(ack: true)],
        script: @escaping @Sendable (_ number: Int, _ stream: UInt32) -> Step
    ) async throws -> ScriptedHTTP2Hub {
        let hub = ScriptedHTTP2Hub(greeting.flatMap(\.bytes), script)
        var configuration = try TLSConfiguration.makeServerConfiguration(
            certificateChain: NIOSSLCertificate.fromPEMBytes(Array(TestCertificates.localhost.utf8)).map {
                .certificate($0)
            },
            privateKey: .privateKey(NIOSSLPrivateKey(bytes: Array(TestCertificates.key.utf8), format: .pem)))
        configuration.applicationProtocols = ["h2", "http/1.1"]
        let tls = try NIOSSLContext(configuration: configuration)
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 1024)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls))
                    try channel.pipeline.syncOperations.addHandler(Actor(hub))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        hub.server.withLock { $0 = channel }
        return hub
    }

    private init(_ greeting: [UInt8], _ script: @escaping @Sendable (Int, UInt32) -> Step) {
        self.greeting = greeting
        self.script = script
    }

    var port: Int { server.withLock { $0?.localAddress?.port ?? 0 } }

    func stop() async throws {
        try await server.withLock { $0 }?.close()
        for channel in state.withLock({ $0.channels }) { try? await channel.close() }
    }

    /// Sends frames on the last connection.
    func send(_ frames: [Frame]) async throws {
        try await state.withLock { $0.channels.last }?.writeAndFlush(ByteBuffer(bytes: frames.flatMap(\.bytes))).get()
    }

    /// Waits until the state is as wanted.
    func until(_ isAsWanted: (State) -> Bool) async {
        while !state.withLock({ isAsWanted($0) }) { await Task.yield() }
    }

    private final class Actor: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let hub: ScriptedHTTP2Hub
        private var isHTTP2 = false
        private var connection = 0
        private var received = ByteBuffer()
        private var hasPreface = false

        init(_ hub: ScriptedHTTP2Hub) { self.hub = hub }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            guard case .handshakeCompleted(let chosen)? = event as? TLSUserEvent else { return }
            isHTTP2 = chosen == "h2"
            let channel = context.channel
            connection = hub.state.withLock {
                $0.accepted += 1
                $0.channels.append(channel)
                return $0.accepted
            }
            if isHTTP2 { write(hub.greeting, context) }
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            var bytes = unwrapInboundIn(data)
            received.writeBuffer(&bytes)
            guard isHTTP2 else { return answerOlder(context) }
            if !hasPreface {
                guard received.readSlice(length: 24) != nil else { return }
                hasPreface = true
            }
            while let frame = nextFrame() {
                switch frame.kind {
                case 0: break
                case 1: answer(frame.stream, context)
                default:
                    hub.state.withLock { $0.controlFrames.append((frame.kind, frame.flags, frame.stream)) }
                    // A client on a busy machine asks after some seconds whether the hub is still there.
                    if frame.kind == 6, frame.flags & 1 == 0 {
                        write(Frame(kind: 6, flags: 1, payload: frame.payload).bytes, context)
                    }
                }
            }
        }

        private func answerOlder(_ context: ChannelHandlerContext) {
            guard String(buffer: received).contains("\r\n\r\n{") else { return }
            received.clear()
            hub.state.withLock { $0.olderRequests += 1 }
            write(Array("HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n".utf8), context)
        }

        private func nextFrame() -> Frame? {
            guard let head = received.getBytes(at: received.readerIndex, length: 9) else { return nil }
            let length = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
            guard let bytes = received.readBytes(length: 9 + length) else { return nil }
            let stream = head[5...].reduce(0) { $0 << 8 | UInt32($1) }
            return Frame(
                kind: head[3], flags: head[4], stream: stream & 0x7FFF_FFFF, payload: Array(bytes.dropFirst(9)))
        }

        private func answer(_ stream: UInt32, _ context: ChannelHandlerContext) {
            let number = hub.state.withLock {
                $0.requests.append((connection, stream))
                return $0.requests.count - 1
            }
            switch hub.script(number, stream) {
            case .frames(let frames): write(frames.flatMap(\.bytes), context)
            case .framesThenClose(let frames):
                write(frames.flatMap(\.bytes), context)
                context.close(promise: nil)
            }
        }

        private func write(_ bytes: [UInt8], _ context: ChannelHandlerContext) {
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}

extension Frame {
    /// A reply without a body.
    static func created(_ stream: UInt32) -> Frame { headers(stream, [(":status", "201")]) }

    static let ping = Frame(kind: 6, payload: Array("12345678".utf8))
}
