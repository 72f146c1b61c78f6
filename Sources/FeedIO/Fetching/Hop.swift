import Feeds
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import ServerIdentity

/// One connection with one request and one answer. Reports at most one head and then at most one body, or a failure.
/// Reports nothing after `abort`.
final class Hop: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    enum Event {
        /// The receiver calls `receiveBody` before it returns, or ends the hop.
        case head(HTTPResponseHead)
        /// The body occupies this many more bytes of memory. Not reported while the hop is paused.
        case received(Int)
        case body(HTTPResponseHead, ByteBuffer)
        case failed(FetchFailure)
    }

    private enum State {
        case connecting
        case awaitingHead(informational: Int)
        case receiving(HTTPResponseHead)
        case over
    }

    private let address: FetchAddress
    private let message: (head: HTTPRequestHead, body: ByteBuffer?)
    private let limits: FetchLimits
    private let report: (Event) -> Void
    private let meter: ByteMeter
    private var state = State.connecting
    /// Separate from the state, so that it grows in place.
    private var body = ByteBuffer()
    private var channel: (any Channel)?
    private var isPaused = false
    /// Bytes of memory for the body that have been reported.
    private var reported = 0
    /// True once the end of the body has arrived, even while the hop is paused.
    private var hasEnded = false

    /// Maximum number of informational answers before the final one.
    private static let informationalMax = 16

    init(
        to address: FetchAddress, sending message: (head: HTTPRequestHead, body: ByteBuffer?), limits: FetchLimits,
        report: @escaping (Event) -> Void
    ) {
        self.address = address
        self.message = message
        self.limits = limits
        self.report = report
        meter = ByteMeter(left: limits.head)
    }

    func connect(on loop: any EventLoop, rules: AddressRules, fetcher: Fetcher) {
        let resolver = CheckedResolver(rules: rules, lookUp: fetcher.lookUp, threads: fetcher.lookups, loop: loop)
        // Handlers are added later, because only one of several attempted connections may carry the request.
        ClientBootstrap(group: loop).resolver(resolver).connectTimeout(TimeAmount(limits.connect))
            .connect(host: address.host, port: address.port)
            .assumeIsolated().whenComplete { [self] result in
                switch result {
                case .success(let channel): connected(channel, tls: fetcher.tls)
                case .failure(let error): fail(FetchFailure(connecting: error, to: address, limits))
                }
            }
    }

    private func connected(_ channel: any Channel, tls: NIOSSLContext) {
        guard case .connecting = state else { return channel.close(promise: nil) }
        self.channel = channel
        do {
            if address.isSecure {
                try channel.pipeline.syncOperations.addHandler(ServerIdentity.makeHandler(tls, host: address.host))
            }
            try start(on: channel)
        } catch { fail(FetchFailure(connecting: error, to: address, limits)) }
    }

    /// Sends the request. Under TLS, it is sent after the handshake.
    func start(on channel: any Channel) throws {
        var decoding = NIOHTTPDecoderLimitConfiguration()
        decoding.maxHeaderListSize = limits.head
        decoding.maxHeaderFieldSize = limits.head
        decoding.maxHeaderFieldCount = limits.headerFields
        let decoder = HTTPResponseDecoder(
            leftOverBytesStrategy: .dropBytes, informationalResponseStrategy: .forward, limitConfiguration: decoding)
        self.channel = channel
        state = .awaitingHead(informational: 0)
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandlers(meter, HTTPRequestEncoder(), ByteToMessageHandler(decoder), self)
        channel.write(HTTPClientRequestPart.head(message.head), promise: nil)
        if let body = message.body { channel.write(HTTPClientRequestPart.body(.byteBuffer(body)), promise: nil) }
        channel.writeAndFlush(HTTPClientRequestPart.end(nil), promise: nil)
    }

    /// Requests the body, in answer to `Event.head`.
    func receiveBody() {
        guard case .receiving(let head) = state else { return }
        if let length = head.headers.first(name: "content-length"), Int(length) ?? .max > limits.body {
            return fail(.bodyTooLarge(limits.body))
        }
        // The limit is doubled for the frames of a chunked body. `channelRead` counts the body itself.
        meter.left = limits.body * 2
    }

    /// Receives nothing more except the bytes that are already in the pipeline.
    func pause() {
        isPaused = true
        channel?.setOption(.autoRead, value: false).whenFailure { _ in }
    }

    func resume() {
        isPaused = false
        report(growth: body)
        guard !isPaused, case .receiving(let head) = state else { return }
        if hasEnded {
            abort()
            report(.body(head, body))
            return
        }
        channel?.setOption(.autoRead, value: true).whenFailure { _ in }
        channel?.read()
    }

    private func report(growth body: ByteBuffer) {
        let growth = body.storageCapacity - reported
        guard growth > 0, !isPaused else { return }
        reported += growth
        report(.received(growth))
    }

    /// Closes at once. Skips TLS close_notify, which would wait for a dead peer.
    func abort() {
        state = .over
        guard let channel else { return }
        self.channel = nil
        if let tls = try? channel.pipeline.syncOperations.context(handlerType: NIOSSLClientHandler.self) {
            tls.close(promise: nil)
        } else {
            channel.close(promise: nil)
        }
    }

    private func fail(_ failure: FetchFailure) {
        if case .over = state { return }
        abort()
        report(.failed(failure))
    }

    // MARK: The channel's events

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch (unwrapInboundIn(data), state) {
        case (.head(let head), .awaitingHead(let informational)):
            guard (100...199).contains(head.status.code), head.status != .switchingProtocols else {
                return receive(head)
            }
            state = .awaitingHead(informational: informational + 1)
            if informational >= Self.informationalMax {
                fail(FetchFailure(.protocolError, "the publisher sends informational answers (1xx) without end"))
            }
        case (.body(var part), .receiving):
            guard part.readableBytes <= limits.body - body.readableBytes else {
                return fail(.bodyTooLarge(limits.body))
            }
            body.writeBuffer(&part)
            report(growth: body)
        case (.end, .receiving(let head)):
            hasEnded = true
            guard !isPaused else { return }
            abort()
            report(.body(head, body))
        default: break
        }
    }

    private func receive(_ head: HTTPResponseHead) {
        state = .receiving(head)
        report(.head(head))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // A complete answer is reported after `resume`, whatever follows it.
        if hasEnded { return }
        fail(FetchFailure(receiving: error, from: address))
    }

    func channelInactive(context: ChannelHandlerContext) {
        // The answer is complete and is reported after `resume`.
        if hasEnded { return context.fireChannelInactive() }
        fail(FetchFailure(.disconnected, "\(address.host) closed the connection before its answer was complete"))
        context.fireChannelInactive()
    }
}

/// Counts bytes as they arrive, before they are buffered or parsed.
final class ByteMeter: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    var left: Int

    init(left: Int) { self.left = left }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data).readableBytes
        // A body may follow the head in the same read, before `receiveBody` can raise the limit.
        context.fireChannelRead(data)
        left -= bytes
        if left < 0 {
            context.fireErrorCaught(
                FetchFailure(.tooLarge, "the answer is too long around its document"))
        }
    }
}
