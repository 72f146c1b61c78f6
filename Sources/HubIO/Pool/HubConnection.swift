internal import NIOCore
internal import NIOSSL
internal import NIOTLS
internal import NotificationHub

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// One connection to the hub: at most one request on it at a time. Lives on the pool's event loop.
final class HubConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    enum State {
        /// Name, TCP and TLS.
        case connecting
        case idle(since: NIODeadline)
        case inFlight(token: UInt64, since: NIODeadline)
        /// Nothing is expected of it any more.
        case closing
        case closed
    }

    private(set) var state = State.connecting
    /// When the present state has lasted too long.
    private(set) var deadline: NIODeadline
    private let pool: SenderPool
    private var reader: ReplyReader
    private var context: ChannelHandlerContext?

    init(pool: SenderPool, deadline: NIODeadline) {
        self.pool = pool
        self.deadline = deadline
        reader = ReplyReader(headBytesMax: pool.limits.headBytesMax, bodyBytesMax: pool.limits.bodyBytesMax)
    }

    // MARK: What the pool asks

    /// There is a TCP connection; with TLS, a handshake comes next.
    func connected(_ channel: any Channel, tls: NIOSSLContext?) {
        guard case .connecting = state else {
            channel.close(mode: .all, promise: nil)
            abandon()
            return
        }
        do {
            let pipeline = channel.pipeline.syncOperations
            if let tls { try pipeline.addHandler(pool.makeTLSHandler(tls)) }
            try pipeline.addHandler(self)
        } catch {
            channel.close(mode: .all, promise: nil)
            connectFailed(SendFailure(connecting: error))
            return
        }
        if !channel.isActive {
            connectFailed(SendFailure(.closedEarly, "the connection was closed at once"))
        } else if tls == nil {
            ready()
        }
    }

    func connectFailed(_ failure: SendFailure) {
        guard case .connecting = state else { return abandon() }
        state = .closed
        pool.connectFailed(self, failure)
    }

    /// The pool was closed before there was a channel.
    private func abandon() {
        state = .closed
        pool.remove(self)
    }

    /// Writes a request. The pool has taken the connection out of its idle ones.
    func send(_ bytes: ByteBuffer, token: UInt64, at now: NIODeadline, deadline: NIODeadline) {
        state = .inFlight(token: token, since: now)
        self.deadline = deadline
        context?.writeAndFlush(wrapOutboundOut(bytes), promise: nil)
    }

    /// Whether the server has ended the connection and the event loop has not been told yet.
    var isEnded: Bool {
        guard let context else { return true }
        #if os(Linux)
        guard let provider = context.channel as? any SocketOptionProvider else { return false }
        var isEnded = false
        // On its own event loop the answer is there at once.
        provider.getTCPInfo().assumeIsolated().whenComplete { result in
            isEnded = (try? result.get().tcpi_state != Self.tcpEstablished) ?? true
        }
        return isEnded
        #else
        return false
        #endif
    }

    /// `TCP_ESTABLISHED` of Linux.
    private static let tcpEstablished: UInt8 = 1

    /// Closes politely, as the servers' logs like it.
    func close(at now: NIODeadline) {
        switch state {
        case .connecting where context == nil: state = .closing
        case .closing, .closed: break
        default:
            state = .closing
            deadline = now + Self.closeTimeout
            context?.close(promise: nil)
        }
    }

    /// Closes now. With TLS it goes around the farewell, for which a dead server would make us wait.
    func abort() {
        guard let context else { return abandon() }
        if case .closed = state { return }
        state = .closing
        if let tls = try? context.pipeline.syncOperations.context(handlerType: NIOSSLClientHandler.self) {
            tls.close(promise: nil)
        } else {
            context.close(promise: nil)
        }
    }

    /// Its deadline has passed.
    func expire(at now: NIODeadline) {
        switch state {
        case .connecting:
            // Without a channel the bootstrap's own timeout ends it.
            guard context != nil else { return }
            fail(SendFailure(.connectTimeout, "no TLS handshake in time"))
        case .idle:
            pool.retire(self)
            close(at: now)
        case .inFlight: fail(SendFailure(.requestTimeout, "no complete reply in time"))
        case .closing: abort()
        case .closed: break
        }
    }

    /// Ends the connection, and with it what waits for it.
    func fail(_ failure: SendFailure) {
        let former = state
        abort()
        switch former {
        case .connecting: pool.connectFailed(self, failure)
        case .inFlight(let token, _): pool.settle(token, .unknown(failure))
        case .idle: pool.retire(self)
        case .closing, .closed: break
        }
    }

    private static let closeTimeout = TimeAmount.seconds(2)

    // MARK: What the channel says

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted? = event as? TLSUserEvent { ready() }
        context.fireUserInboundEventTriggered(event)
    }

    private func ready() {
        guard case .connecting = state else { return }
        let now = NIODeadline.now()
        becomeIdle(at: now)
        pool.connectionReady(self)
    }

    private func becomeIdle(at now: NIODeadline) {
        state = .idle(since: now)
        deadline = now + pool.idleTimeout
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .inFlight = state else {
            // A server that talks unasked would answer the next request with it.
            if case .idle = state { fail(SendFailure(.malformedReply, "bytes came unasked")) }
            return
        }
        let bytes = unwrapInboundIn(data)
        handle(reader.read(bytes.readableBytesUInt8Span))
    }

    private func handle(_ step: ReplyReader.Step) {
        guard case .inFlight(let token, let since) = state else { return }
        switch step {
        case .needsMore: break
        case .malformed(let malformation):
            fail(SendFailure(.malformedReply, malformation.rawValue))
        case .reply(let reply):
            let now = NIODeadline.now()
            reader.reset()
            if reply.keepsAlive, pool.keepsConnections {
                becomeIdle(at: now)
                pool.becameIdle(self)
            } else {
                abort()
            }
            let roundTrip = Duration.nanoseconds((now - since).nanoseconds)
            pool.settle(token, .replied(HubReply(reply, now: wallClockSeconds()), after: roundTrip))
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if case .connecting = state {
            fail(SendFailure(connecting: error))
        } else {
            // Also for a body that ends with the connection: only a clean end is one.
            fail(SendFailure(replying: error))
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        switch state {
        case .connecting: pool.connectFailed(self, SendFailure(.closedEarly, "closed while connecting"))
        case .idle: pool.retire(self)
        case .inFlight(let token, _):
            handle(reader.end())
            guard case .inFlight = state else { break }
            let reason = reader.hasBegun ? "closed in the middle of the reply" : "closed without a reply"
            pool.settle(token, .unknown(SendFailure(.closedEarly, reason)))
        case .closing, .closed: break
        }
        state = .closed
        pool.remove(self)
        context.fireChannelInactive()
    }
}
