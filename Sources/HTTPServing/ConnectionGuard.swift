import Foundation
import NIOCore
import NIOHTTP1

/// Enforces the limits of one connection: its client sends in time (see `ConnectionPhase`), reads the answers, and
/// names one host in each request. Removes the body of answers to `HEAD`, and answers `Expect: 100-continue`.
///
/// Closes a connection only after its set-up, so that no connection is released unserved (see `AcceptedConnections`).
final class ConnectionGuard: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// A request that is not answered yet.
    private struct Exchange {
        var isHead: Bool
        var version: HTTPVersion
        var isLast: Bool
    }

    private let limits: ConnectionLimits
    private let register: ConnectionRegister
    private var phase: ConnectionPhase
    private var exchanges: [Exchange] = []
    /// Bytes of answer bodies written until now; heads are not counted.
    private var written = 0
    /// The time to check whether the reader has received enough since `taken`; `nil` while no bytes are unsent.
    private var readerDueAt: NIODeadline?
    private var taken = 0
    private var alarm = Alarm()

    init(_ limits: ConnectionLimits, _ register: ConnectionRegister) {
        self.limits = limits
        self.register = register
        phase = ConnectionPhase(limits, at: .now())
    }

    /// Requests that one client may send ahead of their answers.
    private static let pipelinedMax = 16

    // MARK: The channel's events

    func handlerAdded(context: ChannelHandlerContext) {
        // Bytes in the kernel's send buffer cannot be counted here, so the buffer is small.
        try? context.channel.syncOptions?.setOption(.socketOption(.so_sndbuf), value: Self.sendBuffer)
        register.add(ObjectIdentifier(context.channel), at: phase.since) { [channel = context.channel] in
            channel.eventLoop.execute { channel.closeAtOnce() }
        }
        watch(context)
    }

    func channelInactive(context: ChannelHandlerContext) {
        forget(context)
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { forget(context) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard phase.activity != .leaving else { return }
        switch unwrapInboundIn(data) {
        case .head(let head):
            phase.receivedHead(at: .now())
            guard Self.namesOneHost(head) else { return refuse(.badRequest, context) }
            guard exchanges.count < Self.pipelinedMax else { return context.channel.closeAtOnce() }
            exchanges.append(Exchange(isHead: head.method == .HEAD, version: head.version, isLast: !head.isKeepAlive))
            if Self.awaitsInvitation(head) {
                context.writeAndFlush(wrapOutboundOut(.head(.init(version: .http1_1, status: .continue))), promise: nil)
            }
        case .body(let bytes): phase.receivedBody(bytes.readableBytes)
        case .end: phase.receivedEnd(at: .now())
        }
        watch(context)
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if phase.activity == .silent {
            phase.receivedBytes(at: .now())
            watch(context)
        }
        context.fireChannelReadComplete()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard phase.activity != .leaving else {
            promise?.fail(ChannelError.outputClosed)
            return
        }
        let exchange = exchanges.first
        switch unwrapOutboundIn(data) {
        case .head(var head):
            if !head.isKeepAlive {
                if exchanges.isEmpty {
                    // The answer belongs to bytes that could not be parsed as a request.
                    exchanges.append(Exchange(isHead: false, version: .http1_1, isLast: true))
                } else {
                    exchanges[0].isLast = true
                }
            } else if exchange?.isLast == true {
                head.headers.add(name: "Connection", value: "close")
            }
            // Clients of older HTTP versions do not support chunked encoding.
            if let version = exchange?.version, Self.isOld(version) { head.version = version }
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .body(let bytes):
            guard exchange?.isHead != true else {
                promise?.succeed()
                return
            }
            written += bytes.readableBytes
            awaitReader(context)
            context.write(data, promise: promise)
        case .end:
            // The final chunk belongs to the body, so an answer to `HEAD` omits it too.
            if exchange?.isHead == true { promise?.succeed() } else { context.write(data, promise: promise) }
            let isLast = exchanges.isEmpty ? false : exchanges.removeFirst().isLast
            phase.answered(at: .now())
            if isLast { leave(context) }
            watch(context)
        }
    }

    /// Registers a stream of events as the next answer.
    /// - Returns: false if no more streams are allowed.
    func beginStream(on channel: any Channel) -> Bool {
        register.beginStream(ObjectIdentifier(channel), at: .now())
    }

    // MARK: Limits

    private static let sendBuffer: SocketOptionValue = 65_536

    /// Schedules the next check of the connection.
    private func watch(_ context: ChannelHandlerContext) {
        register.note(ObjectIdentifier(context.channel), phase)
        let due = [phase.deadline, readerDueAt].compactMap { $0 }.min()
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        alarm.set(for: due, on: context.eventLoop) {
            let (connection, context) = bound.value
            connection.look(context)
        }
    }

    private func look(_ context: ChannelHandlerContext) {
        alarm.rang()
        let now = NIODeadline.now()
        guard !isReaderLate(context, at: now) else { return reset(context) }
        switch phase.verdict(at: now) {
        case .close: context.channel.closeAtOnce()
        case .timeOut: refuse(.requestTimeout, context)
        case nil: watch(context)
        }
    }

    private func awaitReader(_ context: ChannelHandlerContext) {
        guard readerDueAt == nil else { return }
        readerDueAt = .now() + TimeAmount(limits.write)
        taken = written - unsent(context)
        watch(context)
    }

    private func isReaderLate(_ context: ChannelHandlerContext, at now: NIODeadline) -> Bool {
        guard let due = readerDueAt, now >= due else { return false }
        let unsent = unsent(context)
        let wanted = Int(limits.write.components.seconds) * limits.bytesPerSecond
        if unsent > 0, written - unsent - taken <= wanted { return true }
        readerDueAt = unsent > 0 ? now + TimeAmount(limits.write) : nil
        taken = written - unsent
        return false
    }

    /// Bytes that the kernel has not yet accepted.
    private func unsent(_ context: ChannelHandlerContext) -> Int {
        (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
    }

    // MARK: Ends

    /// Answers with a status, without calling the responder, and closes.
    private func refuse(_ status: HTTPResponseStatus, _ context: ChannelHandlerContext) {
        let head = HTTPResponseHead(
            version: .http1_1, status: status, headers: ["Connection": "close", "Content-Length": "0"])
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        leave(context)
        watch(context)
    }

    /// Closes the server's side now, and the connection when the client has closed its side. Closing both at once would
    /// reset a client that is still sending, and the client might never see the answer.
    private func leave(_ context: ChannelHandlerContext) {
        phase.leave(at: .now())
        context.flush()
        context.close(mode: .output, promise: nil)
    }

    /// Closes with a reset: otherwise the kernel would keep what the client does not read, and go on offering it.
    private func reset(_ context: ChannelHandlerContext) {
        // On its own event loop it takes effect at once.
        _ = (context.channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
        context.channel.closeAtOnce()
    }

    private func forget(_ context: ChannelHandlerContext) {
        register.remove(ObjectIdentifier(context.channel))
        alarm.cancel()
    }

    // MARK: Requests

    /// Checks RFC 9112 §3.2: exactly one `Host`, which only clients older than HTTP/1.1 may omit.
    private static func namesOneHost(_ head: HTTPRequestHead) -> Bool {
        let count = head.headers["host"].count
        return count == 1 || count == 0 && isOld(head.version)
    }

    private static func awaitsInvitation(_ head: HTTPRequestHead) -> Bool {
        !isOld(head.version) && head.headers["expect"].contains { $0.lowercased() == "100-continue" }
    }

    /// True for versions older than HTTP/1.1.
    private static func isOld(_ version: HTTPVersion) -> Bool { version == .http1_0 || version == .http0_9 }
}
