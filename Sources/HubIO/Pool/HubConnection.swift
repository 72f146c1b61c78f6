import HubModel
internal import NIOCore
internal import NIOSSL
internal import NIOTLS
internal import NotificationHub

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// The socket of one connection to the hub. It reports events, and the pool's `PoolState` decides. All methods run on
/// the pool's event loop.
final class HubConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let id: ConnectionID
    private let pool: SenderPool
    private let offersHTTP2: Bool
    private var reader: ReplyReader
    /// The request in flight over HTTP/1.1.
    var slot = RequestSlot(0)
    /// The streams over HTTP/2; `nil` unless the server has chosen it.
    private var session: HTTP2Session?
    /// The session has frames that are to be sent at the end of the pool's turn.
    private var hasUnsent = false
    private var context: ChannelHandlerContext?
    /// The channel's socket. Valid while the channel is active, so only `isEnded` uses it.
    private var descriptor: NIOBSDSocket.Handle?
    /// True if the connection was to close before it had a channel.
    private var isUnwanted = false

    init(_ id: ConnectionID, pool: SenderPool, limits: SenderLimits, offersHTTP2: Bool) {
        self.id = id
        self.pool = pool
        self.offersHTTP2 = offersHTTP2
        reader = ReplyReader(headBytesMax: limits.headBytesMax, bodyBytesMax: limits.bodyBytesMax)
    }

    // MARK: The pool's actions

    /// Called when the TCP connection exists. With TLS, a handshake follows.
    func connected(_ channel: any Channel) {
        guard !isUnwanted else { return channel.close(mode: .all, promise: nil) }
        let tls: NIOSSLClientHandler?
        do {
            let pipeline = channel.pipeline.syncOperations
            tls = try pool.makeTLSHandler(offersHTTP2: offersHTTP2)
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
        pool.update { $0.connected(id, at: $1) }
        if tls == nil { becomeReady(.http1, streams: 1) }
    }

    private func becomeReady(_ http: HTTPVersion, streams: Int) {
        pool.note(http)
        pool.update { $0.ready(id, http, streams: streams, at: $1) }
    }

    func write(_ bytes: ByteBuffer) {
        context?.writeAndFlush(wrapOutboundOut(bytes), promise: nil)
    }

    /// True if the server has ended the connection, even if the event loop has not noticed it yet.
    var isEnded: Bool {
        // The channel closes its socket and becomes inactive in one step on this event loop. An active channel's
        // descriptor is therefore still its own.
        guard let context, context.channel.isActive else { return true }
        #if os(Linux)
        guard let descriptor else { return false }
        // The system call is used directly, because the channel's API creates a promise and two futures. The state is
        // the first byte of `tcp_info`, and the kernel writes no more bytes than there is room for.
        var state: UInt8 = 0
        var length = socklen_t(MemoryLayout.size(ofValue: state))
        let (level, option) = (NIOBSDSocket.OptionLevel.tcp.rawValue, NIOBSDSocket.Option.tcp_info.rawValue)
        let answer = getsockopt(descriptor, level, option, &state, &length)
        return answer != 0 || state != Self.tcpEstablished
        #else
        return false
        #endif
    }

    /// The value of `TCP_ESTABLISHED` on Linux.
    private static let tcpEstablished: UInt8 = 1

    /// Closes with GOAWAY over HTTP/2 and a TLS close_notify, as servers expect.
    func close() {
        session?.close()
        sendFrames()
        context?.close(promise: nil)
    }

    /// Closes at once and skips TLS close_notify, which would wait for a dead peer.
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

    /// Handles a channel that closes during its TLS handshake. Such a channel may be removed without becoming inactive.
    func handlerRemoved(context: ChannelHandlerContext) {
        guard self.context != nil else { return }
        self.context = nil
        pool.update { $0.closed(id, SendFailure(.closedEarly, "closed while connecting"), at: $1) }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted(let chosen)? = event as? TLSUserEvent {
            if chosen == "h2" {
                session = pool.makeHTTP2Session()
                pool.update { state, _ in state.choseHTTP2(id) }
                sendFrames()
            } else {
                becomeReady(.http1, streams: 1)
            }
        }
        context.fireUserInboundEventTriggered(event)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if session != nil { return readFrames(unwrapInboundIn(data)) }
        guard pool.awaitsReply(id) else {
            // A server that sends bytes without a request would answer the next request with them.
            return fail(SendFailure(.malformedReply, "bytes came before any request"))
        }
        let bytes = unwrapInboundIn(data)
        handle(reader.read(bytes.readableBytesUInt8Span))
    }

    /// Does not forward the event, because this handler is the last one.
    func channelReadComplete(context: ChannelHandlerContext) {
        // Answers to the server's frames.
        if session != nil { sendFrames() }
    }

    private func handle(_ step: ReplyReader.Step) {
        switch step {
        case .needsMore: break
        case .malformed(let malformation): fail(SendFailure(.malformedReply, malformation.rawValue))
        case .complete:
            let keepsAlive = reader.reply.keepsAlive
            pool.note(date: reader.date)
            pool.update { $0.replied(slot, on: id, reader.takeReply(), keepsAlive: keepsAlive, at: $1) }
        }
    }

    // MARK: HTTP/2

    var isHTTP2: Bool { session != nil }

    /// Writes the request into the group of frames that is sent at the end of the pool's turn.
    func write(_ request: HubCall, _ slot: RequestSlot, authorization: String) {
        switch session?.write(request, slot, authorization: authorization) {
        case .written:
            if session?.isFull == true { sendFrames() } else { sendLater() }
        case .usedUp: pool.update { $0.leave(id, refused: [slot], at: $1) }
        case .invalid, nil: pool.update { $0.unwritable(slot, on: id, at: $1) }
        case .blocked: pool.update { $0.blocked(slot, on: id, at: $1) }
        // HTTP/1.1 knows no such limit.
        case .tooLong: pool.update { $0.fallBack(id, refused: [slot], at: $1) }
        }
    }

    func cancel(_ slot: RequestSlot) {
        session?.cancel(slot)
        sendLater()
    }

    func ping() {
        session?.ping()
        sendLater()
    }

    private func sendLater() {
        if hasUnsent { return }
        hasUnsent = true
        pool.sendLater(self)
    }

    /// Sends the frames written until now as one piece, which TLS encrypts as one record if it is short.
    func sendFrames() {
        hasUnsent = false
        guard let frames = session?.output else { return }
        // Moved, so that the session can reuse the memory once TLS has read it.
        context?.writeAndFlush(wrapOutboundOut(consume frames), promise: nil)
        session?.sent()
    }

    private func readFrames(_ bytes: ByteBuffer) {
        pool.update { $0.heard(id, at: $1) }
        var position = 0
        // A connection that fails has no context any longer.
        while context != nil, let event = session?.next(in: bytes.readableBytesUInt8Span, from: &position) {
            handle(event)
        }
    }

    private func handle(_ event: HTTP2Session.Event) {
        switch event {
        case .ready(let streams): becomeReady(.http2, streams: streams)
        case .capacityChanged(let streams): pool.update { $0.capacityChanged(id, to: streams, at: $1) }
        case .unblocked: pool.update { $0.unblocked(id, at: $1) }
        case .replied(let slot, let reply):
            pool.note(date: session?.date ?? .zero)
            pool.update { $0.replied(slot, on: id, reply, keepsAlive: true, at: $1) }
        case .refused(let slot): pool.update { $0.refused(slot, on: id, at: $1) }
        case .ended(let slot, let failure): pool.update { $0.ended(slot, on: id, failure, at: $1) }
        case .leaving(let refused, let isCalm):
            pool.update { $0.leave(id, refused: refused, isCalm: isCalm, at: $1) }
        case .needsHTTP1(let slot, let failure):
            pool.update {
                // First, because `ended` would otherwise let another request use this connection.
                $0.fallBack(id, at: $1)
                $0.ended(slot, on: id, failure, at: $1)
            }
        case .failed(let failure):
            sendFrames()
            fail(failure)
        }
    }

    /// True if the server chose HTTP/2 and has not shown that it speaks it.
    private var breaksHTTP2: Bool { session.map { !$0.hasBegun } ?? false }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // An error also ends a body that is delimited by the connection: only a clean close completes it.
        fail(pool.isConnecting(id) ? SendFailure(connecting: error) : SendFailure(replying: error))
    }

    private func fail(_ failure: SendFailure) {
        let breaksHTTP2 = breaksHTTP2
        pool.update {
            if breaksHTTP2 { $0.breaksHTTP2(id, at: $1) }
            $0.fail(id, failure, at: $1)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.context = nil
        let reason: String
        if pool.awaitsReply(id) {
            reason = reader.hasBegun ? "closed in the middle of the reply" : "closed without a reply"
            if session == nil { handle(reader.end()) }
        } else {
            reason = "closed while connecting"
        }
        let breaksHTTP2 = breaksHTTP2
        pool.update {
            if breaksHTTP2 { $0.breaksHTTP2(id, at: $1) }
            $0.closed(id, SendFailure(.closedEarly, reason), at: $1)
        }
        context.fireChannelInactive()
    }
}
