internal import NIOCore
internal import NIOSSL
internal import NIOTLS
internal import NotificationHub

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// The socket of one connection to the hub. Reports what happens on it; the pool's `PoolState` decides. Lives on the
/// pool's event loop.
final class HubConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let id: ConnectionID
    private let pool: SenderPool
    private var reader: ReplyReader
    private var context: ChannelHandlerContext?
    /// The channel's socket. Valid while the channel is active, so only `isEnded` uses it.
    private var descriptor: NIOBSDSocket.Handle?
    /// It was to close before there was a channel.
    private var isUnwanted = false

    init(_ id: ConnectionID, pool: SenderPool, limits: SenderLimits) {
        self.id = id
        self.pool = pool
        reader = ReplyReader(headBytesMax: limits.headBytesMax, bodyBytesMax: limits.bodyBytesMax)
    }

    // MARK: The pool's actions

    /// There is a TCP connection; with TLS, a handshake comes next.
    func connected(_ channel: any Channel) {
        guard !isUnwanted else { return channel.close(mode: .all, promise: nil) }
        let tls: NIOSSLClientHandler?
        do {
            let pipeline = channel.pipeline.syncOperations
            tls = try pool.makeTLSHandler()
            if let tls { try pipeline.addHandler(tls) }
            try pipeline.addHandler(self)
            descriptor = try? pipeline.withUnsafeTransportIfAvailable { $0 }
        } catch {
            context = nil
            channel.close(mode: .all, promise: nil)
            return pool.update { $0.closed(id, SendFailure(connecting: error), at: $1) }
        }
        guard channel.isActive else {
            context = nil
            let failure = SendFailure(.closedEarly, "the connection was closed at once")
            return pool.update { $0.closed(id, failure, at: $1) }
        }
        pool.update {
            $0.connected(id, at: $1)
            if tls == nil { $0.ready(id, at: $1) }
        }
    }

    func write(_ bytes: ByteBuffer) {
        context?.writeAndFlush(wrapOutboundOut(bytes), promise: nil)
    }

    /// The server has ended the connection, although the event loop has not seen it yet.
    var isEnded: Bool {
        // The channel closes its socket and becomes inactive in one step, on this event loop: the descriptor of an active one
        // is its own.
        guard let context, context.channel.isActive else { return true }
        #if os(Linux)
        guard let descriptor else { return false }
        // Asked by the system call itself, as the channel's own way makes a promise and two futures of it. The state is the
        // first byte of `tcp_info`, and the kernel writes no more than there is room for.
        var state: UInt8 = 0
        var length = socklen_t(MemoryLayout.size(ofValue: state))
        let (level, option) = (NIOBSDSocket.OptionLevel.tcp.rawValue, NIOBSDSocket.Option.tcp_info.rawValue)
        let answer = getsockopt(descriptor, level, option, &state, &length)
        return answer != 0 || state != Self.tcpEstablished
        #else
        return false
        #endif
    }

    /// `TCP_ESTABLISHED` of Linux.
    private static let tcpEstablished: UInt8 = 1

    /// Closes with a TLS close_notify, as servers expect.
    func close() { context?.close(promise: nil) }

    /// Closes at once: skips TLS close_notify, which would wait for a dead peer.
    func abort() {
        guard let context else {
            isUnwanted = true
            return
        }
        if let tls = try? context.pipeline.syncOperations.context(handlerType: NIOSSLClientHandler.self) {
            tls.close(promise: nil)
        } else {
            context.close(promise: nil)
        }
    }

    // MARK: The channel's events

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    /// A channel that is closed as soon as it has connected, amid a TLS handshake, may go without having become inactive.
    func handlerRemoved(context: ChannelHandlerContext) {
        guard self.context != nil else { return }
        self.context = nil
        pool.update { $0.closed(id, SendFailure(.closedEarly, "closed while connecting"), at: $1) }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted? = event as? TLSUserEvent { pool.update { $0.ready(id, at: $1) } }
        context.fireUserInboundEventTriggered(event)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard pool.awaitsReply(id) else {
            // A server that talks unasked would answer the next request with it.
            return fail(SendFailure(.malformedReply, "bytes came before any request"))
        }
        let bytes = unwrapInboundIn(data)
        handle(reader.read(bytes.readableBytesUInt8Span))
    }

    /// Passed on to nobody: this handler is the last.
    func channelReadComplete(context: ChannelHandlerContext) {}

    private func handle(_ step: ReplyReader.Step) {
        switch step {
        case .needsMore: break
        case .malformed(let malformation): fail(SendFailure(.malformedReply, malformation.rawValue))
        case .complete:
            let keepsAlive = reader.reply.keepsAlive
            pool.note(date: reader.date)
            pool.update { $0.replied(id, reader.takeReply(), keepsAlive: keepsAlive, at: $1) }
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // Also for a body that ends with the connection: only a clean end is one.
        fail(pool.isConnecting(id) ? SendFailure(connecting: error) : SendFailure(replying: error))
    }

    private func fail(_ failure: SendFailure) {
        pool.update { $0.fail(id, failure, at: $1) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.context = nil
        let reason: String
        if pool.awaitsReply(id) {
            reason = reader.hasBegun ? "closed in the middle of the reply" : "closed without a reply"
            handle(reader.end())
        } else {
            reason = "closed while connecting"
        }
        pool.update { $0.closed(id, SendFailure(.closedEarly, reason), at: $1) }
        context.fireChannelInactive()
    }
}
