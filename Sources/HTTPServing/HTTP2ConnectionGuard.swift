import NIOCore

/// Enforces the limits of a TLS connection until its client has chosen HTTP/1.1, where `ConnectionGuard` takes over.
/// With HTTP/2 it stays, and `HTTP2StreamGuard` watches each request. An HTTP/2 connection without a request is asked
/// to close, and is closed if it does not.
///
/// First in the pipeline, so that a close skips TLS close_notify.
final class HTTP2ConnectionGuard: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = Any

    private let register: ConnectionRegister
    private var phase: ConnectionPhase
    private var context: ChannelHandlerContext?
    private var alarm = Alarm()

    init(_ limits: ConnectionLimits, _ register: ConnectionRegister) {
        self.register = register
        phase = ConnectionPhase(limits, at: .now())
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        if context.channel.isActive { begin(context) }
    }

    func channelActive(context: ChannelHandlerContext) {
        begin(context)
        context.fireChannelActive()
    }

    /// Starts when the channel becomes active. A connection that closes during its set-up would be released unserved
    /// (see `AcceptedConnections`).
    private func begin(_ context: ChannelHandlerContext) {
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        register.add(ObjectIdentifier(context.channel), at: phase.since) { [loop = context.eventLoop] in
            loop.execute { bound.value.close(promise: nil) }
        }
        watch()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        register.remove(ObjectIdentifier(context.channel))
        alarm.cancel()
        self.context = nil
    }

    // MARK: Streams

    func streamOpened() {
        phase.receivedHead(at: .now())
        phase.receivedEnd(at: .now())
        watch()
    }

    func streamClosed() {
        phase.answered(at: .now())
        watch()
    }

    private func watch() {
        guard let context else { return }
        register.note(ObjectIdentifier(context.channel), phase)
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        alarm.set(for: phase.deadline, on: context.eventLoop) { bound.value.look() }
    }

    private func look() {
        alarm.rang()
        guard phase.verdict(at: .now()) != nil else { return watch() }
        if phase.activity == .leaving {
            context?.close(promise: nil)
        } else {
            // The HTTP/2 handler answers with GOAWAY if the client has completed the handshake.
            context?.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
            phase.leave(at: .now())
            watch()
        }
    }
}
