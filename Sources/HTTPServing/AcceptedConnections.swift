import Foundation
import NIOCore
import NIOSSL

/// The connections of a listening channel. Limits their number, and delays a close until it can drop no connection.
///
/// Beyond the limit, the connection that has been idle longest is closed (`ConnectionRegister`). If no connection is
/// idle, or the process can open no more files, callers wait in the system's queue.
///
/// A connection that is still being set up when its listener closes would be released unserved, and SwiftNIO then traps
/// (apple/swift-nio issues 2637 and 3481). This handler is first in the listener's pipeline. It delays a close until
/// every accepted connection is either active or gone, and accepts no others during that time.
///
/// All methods run on the listener's event loop.
final class AcceptedConnections: ChannelDuplexHandler {
    typealias InboundIn = any Channel
    typealias InboundOut = any Channel
    typealias OutboundIn = Never

    /// Connections that may be open beyond the limit while idle ones are being closed.
    private static let spare = 8
    /// The delay between attempts to make room.
    private static let retry = TimeAmount.milliseconds(100)

    private let limits: ConnectionLimits
    private let register: ConnectionRegister
    private let areSecure: Bool
    private var open: [ObjectIdentifier: any Channel] = [:]
    /// True at the limit: callers wait in the system's queue until a connection has closed.
    private var isFull = false
    /// True after a failed accept: callers wait until another file can be opened.
    private var hasFailed = false
    private var isAboutToRetry = false
    private var inSetUp: Set<ObjectIdentifier> = []
    /// The close requests that wait for `inSetUp` to become empty.
    private var heldBack: [(mode: CloseMode, promise: EventLoopPromise<Void>?)] = []

    /// - Parameter areSecure: true if clients use TLS and choose the HTTP version in its handshake.
    init(_ limits: ConnectionLimits, _ register: ConnectionRegister, areSecure: Bool) {
        self.limits = limits
        self.register = register
        self.areSecure = areSecure
    }

    /// Closes every connection, including those in the middle of a reply.
    func closeAll() {
        for connection in open.values { connection.eventLoop.execute { connection.closeAtOnce() } }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let connection = unwrapInboundIn(data)
        let id = ObjectIdentifier(connection)
        open[id] = connection
        inSetUp.insert(id)
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        // The watch is submitted to the connection's event loop before its set-up, so it is in place at activation.
        let isActive = connection.eventLoop.makePromise(of: Void.self)
        connection.pipeline.addHandler(ActivityWatch(isActive), position: .first).cascadeFailure(to: isActive)
        if areSecure {
            connection.eventLoop.execute { [limits, register] in
                let first = HTTP2ConnectionGuard(limits, register)
                try? connection.pipeline.syncOperations.addHandler(first, position: .first)
            }
        }
        isActive.futureResult.hop(to: context.eventLoop).whenComplete { _ in
            let (connections, context) = bound.value
            connections.endSetUp(id, context)
        }
        connection.closeFuture.hop(to: context.eventLoop).whenComplete { _ in
            let (connections, context) = bound.value
            connections.open[id] = nil
            connections.endSetUp(id, context)
            if connections.isFull { connections.acceptMore(context) }
        }
        if open.count > limits.connectionsMax { register.makeRoom(at: .now()) }
        context.fireChannelRead(data)
    }

    func read(context: ChannelHandlerContext) {
        guard heldBack.isEmpty else { return }
        isFull = open.count >= limits.connectionsMax + Self.spare
        if isFull { makeRoom(context) } else { context.read() }
    }

    /// Handles a failed accept. While no file is free, SwiftNIO would retry at once and do nothing else. Other errors
    /// concern callers that have already gone, so that the next one may be accepted at once.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let error = error as? IOError else { return context.fireErrorCaught(error) }
        guard [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(error.errnoCode) else { return }
        hasFailed = true
        setAccepting(false, context)
        makeRoom(context)
    }

    private func makeRoom(_ context: ChannelHandlerContext) {
        register.makeRoom(at: .now())
        guard !isAboutToRetry else { return }
        isAboutToRetry = true
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        context.eventLoop.scheduleTask(in: Self.retry) {
            let (connections, context) = bound.value
            connections.isAboutToRetry = false
            connections.acceptMore(context)
        }
    }

    private func acceptMore(_ context: ChannelHandlerContext) {
        if hasFailed {
            hasFailed = false
            setAccepting(true, context)
        } else if isFull {
            read(context: context)
        }
    }

    private func setAccepting(_ isAccepting: Bool, _ context: ChannelHandlerContext) {
        try? context.channel.syncOptions?.setOption(.autoRead, value: isAccepting)
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        guard !inSetUp.isEmpty else { return context.close(mode: mode, promise: promise) }
        heldBack.append((mode, promise))
    }

    private func endSetUp(_ id: ObjectIdentifier, _ context: ChannelHandlerContext) {
        guard inSetUp.remove(id) != nil, inSetUp.isEmpty else { return }
        for (mode, promise) in heldBack { context.close(mode: mode, promise: promise) }
        heldBack = []
    }
}

extension Channel {
    /// Closes without TLS close_notify, which would wait for a client that does not read. Call it on the event loop.
    func closeAtOnce() {
        if let tls = try? pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self) {
            tls.close(promise: nil)
        } else {
            close(promise: nil)
        }
    }
}

/// Succeeds when its channel becomes active, and fails if it closes before that.
private final class ActivityWatch: ChannelInboundHandler, RemovableChannelHandler, Sendable {
    typealias InboundIn = Any

    private let isActive: EventLoopPromise<Void>

    init(_ isActive: EventLoopPromise<Void>) { self.isActive = isActive }

    func channelActive(context: ChannelHandlerContext) {
        isActive.succeed()
        context.fireChannelActive()
        context.pipeline.syncOperations.removeHandler(self, promise: nil)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        isActive.fail(ChannelError.ioOnClosedChannel)
    }
}
