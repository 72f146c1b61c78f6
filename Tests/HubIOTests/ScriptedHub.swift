import NIOCore
import NIOPosix
import NIOSSL
import Synchronization
import TestSupport

#if canImport(Glibc)
import Glibc
#endif

/// A hub on real sockets that handles each request as its script specifies.
final class ScriptedHub: Sendable {
    enum Step: Sendable {
        case reply(String)
        /// Pieces, each written separately in a later turn of the event loop.
        case pieces([String])
        case replyThenClose(String)
        /// The reply, followed by an RST.
        case replyThenReset(String)
        case reset
        case close
        case silence
    }

    /// The received requests, complete with head and body.
    var requests: [String] { state.withLock { $0.requests } }
    var accepted: Int { state.withLock { $0.accepted } }
    let port: Int

    private struct State {
        var requests: [String] = []
        var accepted = 0
        var open: [ObjectIdentifier: any Channel] = [:]
    }

    private let state: Mutex<State>
    private let server: any Channel

    /// - Parameters:
    ///   - certificate: PEM; with one, the hub speaks TLS.
    ///   - cut: ends every connection after this many bytes were sent.
    ///   - greeting: the step for a connection before any request; `nil` for none at all.
    ///   - script: receives the number of the request, from 0, over all connections.
    static func start(
        certificate: String? = nil, cut: Cut? = nil, greeting: Step? = nil, script: @escaping @Sendable (Int) -> Step
    ) async throws -> ScriptedHub {
        let tls = try certificate.map { certificate in
            try NIOSSLContext(
                configuration: .makeServerConfiguration(
                    certificateChain: NIOSSLCertificate.fromPEMBytes(Array(certificate.utf8)).map { .certificate($0) },
                    privateKey: .privateKey(
                        NIOSSLPrivateKey(bytes: Array(TestCertificates.key.utf8), format: .pem))))
        }
        let hub = HubBox()
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 1024)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let cut { try channel.pipeline.syncOperations.addHandler(Cutter(cut)) }
                    if let tls { try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls)) }
                    try channel.pipeline.syncOperations.addHandler(Actor(hub: hub, greeting: greeting, script: script))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let started = ScriptedHub(server: server, port: server.localAddress?.port ?? 0)
        hub.value.withLock { $0 = started }
        return started
    }

    private init(server: any Channel, port: Int) {
        self.server = server
        self.port = port
        state = Mutex(State())
    }

    func stop() async throws {
        try await server.close()
        await closeConnections()
    }

    /// Waits until this many requests have arrived.
    func received(_ count: Int) async {
        while requests.count < count { await Task.yield() }
    }

    /// Ends all connections from the hub's side.
    func closeConnections() async {
        let channels = state.withLock { Array($0.open.values) }
        for channel in channels { try? await channel.close() }
    }

    /// Starts ending all connections after `delay`, then calls `whenDone`. Callers need not suspend.
    func closeConnections(after delay: TimeAmount, whenDone: @escaping @Sendable () -> Void) {
        let channels = state.withLock { Array($0.open.values) }
        server.eventLoop.scheduleTask(in: delay) { [loop = server.eventLoop] in
            EventLoopFuture.andAllComplete(channels.map { $0.close() }, on: loop).whenComplete { _ in whenDone() }
        }
    }

    private final class HubBox: Sendable {
        let value = Mutex<ScriptedHub?>(nil)
    }

    struct Cut: Sendable {
        var bytes: Int
        /// True to send RST instead of FIN.
        var resets: Bool
    }

    /// Passes a number of bytes, then ends the connection.
    private final class Cutter: ChannelOutboundHandler {
        typealias OutboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private var left: Int
        private let resets: Bool
        private var isCut = false

        init(_ cut: Cut) {
            left = cut.bytes
            resets = cut.resets
        }

        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            var bytes = unwrapOutboundIn(data)
            guard !isCut else { return promise?.fail(ChannelError.ioOnClosedChannel) ?? () }
            guard bytes.readableBytes > left else {
                left -= bytes.readableBytes
                return context.write(data, promise: promise)
            }
            isCut = true
            if let rest = bytes.readSlice(length: left), left > 0 {
                context.writeAndFlush(wrapOutboundOut(rest), promise: nil)
            }
            promise?.fail(ChannelError.ioOnClosedChannel)
            ScriptedHub.end(context, resets: resets)
        }
    }

    /// Ends the connection. With a linger time of zero the kernel sends RST instead of FIN.
    private static func end(_ context: ChannelHandlerContext, resets: Bool) {
        guard resets else { return context.close(promise: nil) }
        (context.channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
            .assumeIsolated().whenComplete { _ in context.close(promise: nil) }
    }

    /// One connection on the hub's side.
    private final class Actor: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let hub: HubBox
        private let greeting: Step?
        private let script: @Sendable (Int) -> Step
        private var received = ""

        init(hub: HubBox, greeting: Step?, script: @escaping @Sendable (Int) -> Step) {
            self.hub = hub
            self.greeting = greeting
            self.script = script
        }

        private func update<R>(_ body: (inout sending State) -> sending R) -> R? {
            hub.value.withLock { $0 }?.state.withLock(body)
        }

        func channelActive(context: ChannelHandlerContext) {
            let channel = context.channel
            _ = update {
                $0.accepted += 1
                $0.open[ObjectIdentifier(channel)] = channel
            }
            if let greeting { perform(greeting, context: context) }
            context.fireChannelActive()
        }

        func channelInactive(context: ChannelHandlerContext) {
            let id = ObjectIdentifier(context.channel)
            _ = update { $0.open[id] = nil }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            context.close(promise: nil)
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            received += String(buffer: unwrapInboundIn(data))
            while let request = nextRequest() {
                let number = update {
                    $0.requests.append(request)
                    return $0.requests.count - 1
                }
                if let number { perform(script(number), context: context) }
            }
        }

        private func nextRequest() -> String? {
            guard let end = received.utf8.firstRange(of: "\r\n\r\n".utf8)?.upperBound else { return nil }
            let label = "\r\nContent-Length: "
            let value = received.utf8.firstRange(of: label.utf8)?.upperBound
            guard let length = value.map({ Int(received[$0...].prefix { $0.isNumber }) }) ?? 0,
                let bodyEnd = received.utf8.index(end, offsetBy: length, limitedBy: received.utf8.endIndex)
            else { return nil }
            defer { received = String(received[bodyEnd...]) }
            return String(received[..<bodyEnd])
        }

        private func perform(_ step: Step, context: ChannelHandlerContext) {
            switch step {
            case .reply(let text): write(text, context: context)
            case .pieces(let pieces): Self.write(pieces[...], channel: context.channel)
            case .replyThenClose(let text):
                write(text, context: context)
                context.close(promise: nil)
            case .replyThenReset(let text):
                write(text, context: context)
                ScriptedHub.end(context, resets: true)
            case .reset: ScriptedHub.end(context, resets: true)
            case .close: context.close(promise: nil)
            case .silence: break
            }
        }

        private func write(_ text: String, context: ChannelHandlerContext) {
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
        }

        private static func write(_ pieces: ArraySlice<String>, channel: any Channel) {
            guard let piece = pieces.first else { return }
            let loop = channel.eventLoop
            channel.writeAndFlush(ByteBuffer(string: piece)).whenComplete { _ in
                loop.execute { Actor.write(pieces.dropFirst(), channel: channel) }
            }
        }
    }
}
