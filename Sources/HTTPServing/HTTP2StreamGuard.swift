import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Enforces the limits of one HTTP/2 request: its body arrives in time (see `ConnectionPhase`), and its answer is read.
/// Removes the body of answers to `HEAD`.
final class HTTP2StreamGuard: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let limits: ConnectionLimits
    private let register: ConnectionRegister
    private var phase: ConnectionPhase
    private var connection: HTTP2ConnectionGuard?
    private var connectionID: ObjectIdentifier?
    /// Bytes that the connection's register counts for this request; `nil` if the register refused it.
    private var held: Int?
    private var isHead = false
    private var written = 0
    /// The deadline of a client that has an answer to read.
    private var readerDueAt: NIODeadline?
    private var alarm = Alarm()

    init(_ limits: ConnectionLimits, _ register: ConnectionRegister) {
        self.limits = limits
        self.register = register
        phase = ConnectionPhase(limits, at: .now())
    }

    /// Memory for one open request, excluding its answer.
    private static let overhead = 16_384

    // MARK: The stream's events

    func handlerAdded(context: ChannelHandlerContext) {
        connection = try? context.channel.parent?.pipeline.syncOperations.handler(type: HTTP2ConnectionGuard.self)
        connection?.streamOpened()
        connectionID = context.channel.parent.map { ObjectIdentifier($0) }
        if let connectionID, register.hold(connectionID, Self.overhead, isRequest: true) { held = Self.overhead }
        watch(context)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        alarm.cancel()
        register.remove(ObjectIdentifier(context.channel))
        release(held ?? 0)
        connection?.streamClosed()
        connection = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard phase.activity != .leaving else { return }
        switch unwrapInboundIn(data) {
        case .head(let head):
            isHead = head.method == .head
            phase.receivedHead(at: .now())
            guard held != nil else { return refuse(.serviceUnavailable, context) }
        case .body(let bytes): phase.receivedBody(bytes.readableBytes)
        case .end: phase.receivedEnd(at: .now())
        }
        watch(context)
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(var head):
            // RFC 9113 §8.2.2 forbids this field in HTTP/2.
            head.headerFields[.connection] = nil
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .body(let bytes):
            guard !isHead else {
                promise?.succeed()
                return
            }
            written += bytes.readableBytes
            guard hold(bytes.readableBytes) else {
                promise?.fail(ChannelError.outputClosed)
                return context.close(promise: nil)
            }
            let promise = promise ?? context.eventLoop.makePromise()
            let bound = NIOLoopBound((self, bytes.readableBytes), eventLoop: context.eventLoop)
            promise.futureResult.whenComplete { _ in
                let (stream, count) = bound.value
                stream.release(count)
            }
            context.write(data, promise: promise)
        case .end:
            context.write(data, promise: promise)
            phase.answered(at: .now())
            awaitReader(context)
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable { readerDueAt = nil } else { awaitReader(context) }
        context.fireChannelWritabilityChanged()
    }

    /// Registers a stream of events as the answer. It counts like a connection with a stream.
    /// - Returns: false if no more streams are allowed.
    func beginEvents(on channel: any Channel) -> Bool {
        let id = ObjectIdentifier(channel)
        register.add(id, at: .now()) { channel.close(promise: nil) }
        let mayBegin = register.beginStream(id, at: .now())
        if !mayBegin { register.remove(id) }
        return mayBegin
    }

    // MARK: Limits

    private func watch(_ context: ChannelHandlerContext) {
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let due = [phase.deadline, readerDueAt].compactMap { $0 }.min()
        alarm.set(for: due, on: context.eventLoop) {
            let (stream, context) = bound.value
            stream.look(context)
        }
    }

    private func awaitReader(_ context: ChannelHandlerContext) {
        readerDueAt = .now() + TimeAmount(limits.write) + .seconds(Int64(written / limits.bytesPerSecond))
        watch(context)
    }

    private func hold(_ bytes: Int) -> Bool {
        guard let connectionID, let held, register.hold(connectionID, bytes) else { return false }
        self.held = held + bytes
        return true
    }

    /// Releases reserved memory. A request that ends releases the remainder, so that no bytes are released twice.
    private func release(_ bytes: Int) {
        guard let connectionID, let held, held > 0 else { return }
        let freed = min(bytes, held)
        self.held = held - freed
        register.release(connectionID, freed)
    }

    /// Answers with a status, without calling the responder.
    private func refuse(_ status: HTTPResponse.Status, _ context: ChannelHandlerContext) {
        phase.leave(at: .now())
        context.write(wrapOutboundOut(.head(HTTPResponse(status: status))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        context.close(promise: nil)
    }

    private func look(_ context: ChannelHandlerContext) {
        alarm.rang()
        let now = NIODeadline.now()
        if let due = readerDueAt, now >= due { return context.close(promise: nil) }
        switch phase.verdict(at: now) {
        case .timeOut: refuse(.requestTimeout, context)
        case .close: context.close(promise: nil)
        case nil: watch(context)
        }
    }
}
