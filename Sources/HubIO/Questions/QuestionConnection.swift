import HubModel
internal import NIOCore
internal import NIOPosix
internal import NIOSSL
internal import NewsModel
internal import NotificationHub

/// One connection of `HubQuestions`. Confined to its event loop.
final class QuestionConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer
    typealias Completion = (Result<HubQuestions.Answer, SendFailure>, _ isReusable: Bool) -> Void

    private enum State {
        /// Not connected. Followed by `connecting`.
        case new
        /// Opening the TCP connection. Followed by `asking` or `closed`.
        case connecting(ByteBuffer, Completion)
        /// Waiting for the answer, with TLS also for its handshake. Followed by `idle` or `closed`.
        case asking(Completion)
        /// Ready for a question. Followed by `asking` or `closed`.
        case idle
        case closed
    }

    // Retained until the owner is closed or this connection has ended.
    private let owner: HubQuestions
    private let loop: any EventLoop
    private var reader: ReplyReader
    private var state = State.new
    private var channel: (any Channel)?
    /// Ends a question that takes too long, or an unused connection.
    private var alarm: Scheduled<Void>?

    init(_ owner: HubQuestions) {
        self.owner = owner
        loop = owner.eventLoop
        reader = ReplyReader(headBytesMax: owner.limits.headBytesMax, bodyBytesMax: owner.limits.bodyBytesMax)
    }

    func ask(_ bytes: ByteBuffer, _ completion: @escaping Completion) {
        switch state {
        case .idle:
            state = .asking(completion)
            set(after: owner.limits.requestTimeout, SendFailure(.requestTimeout, "no answer in time"))
            channel?.writeAndFlush(bytes, promise: nil)
        case .new:
            state = .connecting(bytes, completion)
            connect()
        case .connecting, .asking, .closed:
            completion(.failure(SendFailure(.closedEarly, "the connection was closed")), false)
        }
    }

    private func connect() {
        ClientBootstrap(group: loop)
            .connectTimeout(TimeAmount(owner.limits.connectTimeout))
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .connect(host: owner.endpoint.host, port: owner.endpoint.port)
            .assumeIsolated()
            .whenComplete { [self] result in
                switch result {
                case .success(let channel): connected(channel)
                case .failure(let error): end(SendFailure(connecting: error))
                }
            }
    }

    private func connected(_ channel: any Channel) {
        guard case .connecting(let bytes, let completion) = state else { return channel.close(promise: nil) }
        self.channel = channel
        state = .asking(completion)
        do {
            let pipeline = channel.pipeline.syncOperations
            if let tls = try owner.makeTLSHandler() { try pipeline.addHandler(tls) }
            try pipeline.addHandler(self)
        } catch {
            return end(SendFailure(connecting: error))
        }
        guard channel.isActive else {
            return end(SendFailure(.closedEarly, "the connection was closed at once"))
        }
        set(
            after: owner.limits.connectTimeout + owner.limits.requestTimeout,
            SendFailure(.requestTimeout, "no answer in time"))
        // With TLS, the write waits for the end of the handshake.
        channel.writeAndFlush(bytes, promise: nil)
    }

    private func set(after duration: Duration, _ failure: SendFailure) {
        alarm?.cancel()
        alarm = loop.assumeIsolated().scheduleTask(in: TimeAmount(duration)) { [weak self] in self?.end(failure) }
    }

    /// Closes the connection, and fails its question if it has one.
    func end(_ failure: SendFailure) {
        let before = state
        state = .closed
        alarm?.cancel()
        channel?.close(mode: .all, promise: nil)
        channel = nil
        switch before {
        case .connecting(_, let completion), .asking(let completion): completion(.failure(failure), false)
        case .idle: owner.forget(self)
        case .new, .closed: break
        }
    }

    // MARK: The channel's events

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .asking = state else {
            return end(SendFailure(.malformedReply, "bytes came before any question"))
        }
        let bytes = unwrapInboundIn(data)
        handle(reader.read(bytes.readableBytesUInt8Span))
    }

    private func handle(_ step: ReplyReader.Step) {
        switch step {
        case .needsMore: break
        case .malformed(let malformation): end(SendFailure(.malformedReply, malformation.rawValue))
        case .complete:
            guard case .asking(let completion) = state else { return }
            let (reply, date) = (reader.reply, Instant(httpDate: reader.date))
            reader.reset()
            let isReusable = reply.keepsAlive && channel?.isActive == true
            if isReusable {
                state = .idle
                set(after: owner.limits.idleTimeout, SendFailure(.closedEarly, "not used"))
            } else {
                state = .closed
                alarm?.cancel()
                channel?.close(mode: .all, promise: nil)
                channel = nil
            }
            completion(.success(.init(reply: reply.hubReply, body: reply.body, date: date)), isReusable)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        end(error is NIOSSLError || error is NIOSSLExtraError ? SendFailure(connecting: error) : .init(replying: error))
    }

    func channelInactive(context: ChannelHandlerContext) {
        if case .asking = state { handle(reader.end()) }
        end(SendFailure(.closedEarly, "the connection was closed before the answer was complete"))
    }
}
