import NIOCore

/// The connections of a listening channel, and a close that drops none of them.
///
/// A connection that is still being set up when its listener closes would be released without having been served,
/// which SwiftNIO answers with a trap (apple/swift-nio issues 2637 and 3481). This handler stands at the front of the
/// listener's pipeline and holds a close back until every accepted connection is either active or gone; it accepts no
/// more in the meantime.
///
/// Everything here happens on the listener's event loop.
final class AcceptedConnections: ChannelDuplexHandler {
    typealias InboundIn = any Channel
    typealias InboundOut = any Channel
    typealias OutboundIn = Never

    private var open: [ObjectIdentifier: any Channel] = [:]
    private var inSetUp: Set<ObjectIdentifier> = []
    /// The closes that wait for `inSetUp` to become empty.
    private var heldBack: [(mode: CloseMode, promise: EventLoopPromise<Void>?)] = []

    /// Closes every connection, also those that are in the middle of a reply.
    func closeAll() {
        for connection in open.values { connection.close(promise: nil) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let connection = unwrapInboundIn(data)
        let id = ObjectIdentifier(connection)
        open[id] = connection
        inSetUp.insert(id)
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        // Submitted to the connection's event loop before its set-up is, so the watch is there when it becomes active.
        let isActive = connection.eventLoop.makePromise(of: Void.self)
        connection.pipeline.addHandler(ActivityWatch(isActive), position: .first).cascadeFailure(to: isActive)
        isActive.futureResult.hop(to: context.eventLoop).whenComplete { _ in
            let (connections, context) = bound.value
            connections.endSetUp(id, context)
        }
        connection.closeFuture.hop(to: context.eventLoop).whenComplete { _ in
            let (connections, context) = bound.value
            connections.open[id] = nil
            connections.endSetUp(id, context)
        }
        context.fireChannelRead(data)
    }

    func read(context: ChannelHandlerContext) {
        if heldBack.isEmpty { context.read() }
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

/// Succeeds when its channel becomes active, fails when that will not happen.
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
