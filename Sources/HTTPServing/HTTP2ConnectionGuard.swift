import NIOCore

/// Keeps a TLS connection to the rules until its client has chosen HTTP/1.1, where `ConnectionGuard` takes over, or for
/// as long as it speaks HTTP/2, where `HTTP2StreamGuard` watches each request: a connection without one is asked to
/// leave, and closed when it does not.
///
/// It stands at the front of the pipeline, so a close skips TLS close_notify.
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

    /// Not before the channel is active: a connection that closes while it is being set up would be released unserved
    /// (`AcceptedConnections`).
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
            // Answered with GOAWAY by the handler of HTTP/2, if the client has come that far.
            context?.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
            phase.leave(at: .now())
            watch()
        }
    }
}
