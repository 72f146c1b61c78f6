import Foundation
import NIOCore
import NIOHTTP1

/// Keeps one connection to the rules: its client is in time (see `ConnectionPhase`), reads what it asked for, and sends
/// requests that name one host. Answers to `HEAD` lose their body here, and `Expect: 100-continue` is answered.
///
/// It closes connections only after they were set up, so that none is released without having been served (see
/// `AcceptedConnections`).
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
    /// Bytes of answers so far; heads count as nothing.
    private var written = 0
    /// When to look whether the reader has taken enough since `taken`; `nil` while nothing was written.
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
        // What the kernel holds for a reader that does not read is not seen here, so it is kept small.
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
                    // The answer to what could not be read as a request.
                    exchanges.append(Exchange(isHead: false, version: .http1_1, isLast: true))
                } else {
                    exchanges[0].isLast = true
                }
            } else if exchange?.isLast == true {
                head.headers.add(name: "Connection", value: "close")
            }
            // Older clients do not know chunks.
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
            // The last chunk is part of the body too.
            if exchange?.isHead == true { promise?.succeed() } else { context.write(data, promise: promise) }
            let isLast = exchanges.isEmpty ? false : exchanges.removeFirst().isLast
            phase.answered(at: .now())
            if isLast { leave(context) }
            watch(context)
        }
    }

    /// The answer will be a stream of events.
    /// - Returns: false if there is no room for one.
    func beginStream(on channel: any Channel) -> Bool {
        register.beginStream(ObjectIdentifier(channel), at: .now())
    }

    // MARK: Limits

    private static let sendBuffer: SocketOptionValue = 65_536

    /// Looks at the connection again when something may be due.
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

    /// Bytes that the kernel has not taken.
    private func unsent(_ context: ChannelHandlerContext) -> Int {
        (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
    }

    // MARK: Ends

    /// Answers without asking the responder, and closes.
    private func refuse(_ status: HTTPResponseStatus, _ context: ChannelHandlerContext) {
        let head = HTTPResponseHead(
            version: .http1_1, status: status, headers: ["Connection": "close", "Content-Length": "0"])
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        leave(context)
        watch(context)
    }

    /// Closes the server's side, and the connection when its client has closed its own. Closing both at once would be a
    /// reset if the client is still sending, and it might never see the answer.
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

    /// RFC 9112 §3.2: one host, which only HTTP/1.0 may leave out.
    private static func namesOneHost(_ head: HTTPRequestHead) -> Bool {
        let count = head.headers["host"].count
        return count == 1 || count == 0 && isOld(head.version)
    }

    private static func awaitsInvitation(_ head: HTTPRequestHead) -> Bool {
        !isOld(head.version) && head.headers["expect"].contains { $0.lowercased() == "100-continue" }
    }

    /// Older than HTTP/1.1.
    private static func isOld(_ version: HTTPVersion) -> Bool { version == .http1_0 || version == .http0_9 }
}
