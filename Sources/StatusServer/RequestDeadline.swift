import NIOCore

/// Answers 408 and closes when a request is not complete in time, however steadily its bytes arrive.
///
/// Answers are written only after the whole request was read, so the first write ends the wait.
final class RequestDeadline: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    private static let answer = "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"

    private let limit: TimeAmount
    private var deadline: Scheduled<Void>?

    private init(_ limit: TimeAmount) { self.limit = limit }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if deadline == nil {
            let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            deadline = context.eventLoop.scheduleTask(in: limit) {
                let (guardian, context) = bound.value
                guardian.expire(context)
            }
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        stopWaiting()
        context.write(data, promise: promise)
    }

    func channelInactive(context: ChannelHandlerContext) {
        stopWaiting()
        context.fireChannelInactive()
    }

    private func stopWaiting() {
        deadline?.cancel()
        deadline = nil
    }

    private func expire(_ context: ChannelHandlerContext) {
        let bytes = context.channel.allocator.buffer(string: Self.answer)
        context.writeAndFlush(wrapOutboundOut(.byteBuffer(bytes)), promise: nil)
        context.close(promise: nil)
    }

    /// Puts a deadline in front of all other handlers, where the bytes are not decoded yet.
    final class Installer: ChannelInboundHandler, RemovableChannelHandler {
        typealias InboundIn = Any

        private let limit: TimeAmount

        init(_ limit: TimeAmount) { self.limit = limit }

        func handlerAdded(context: ChannelHandlerContext) {
            try? context.pipeline.syncOperations.addHandler(RequestDeadline(limit), position: .first)
        }
    }
}
