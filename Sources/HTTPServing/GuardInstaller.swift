import NIOCore
import NIOHTTP1

/// Puts the guard of its protocol behind the decoder of requests, before anything is made of them.
final class GuardInstaller: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = Any

    private let limits: ConnectionLimits
    private let register: ConnectionRegister

    init(_ limits: ConnectionLimits, _ register: ConnectionRegister) {
        self.limits = limits
        self.register = register
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let pipeline = context.pipeline.syncOperations
        do {
            guard let decoder = try? pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self) else {
                // A stream of HTTP/2, whose decoder is the last handler so far.
                return try pipeline.addHandler(HTTP2StreamGuard(limits, register), position: .before(self))
            }
            if let first = try? pipeline.context(handlerType: HTTP2ConnectionGuard.self) {
                pipeline.removeHandler(context: first, promise: nil)
            }
            try pipeline.addHandler(ConnectionGuard(limits, register), position: .after(decoder))
        } catch {
            // The pipeline is being taken down.
            context.close(promise: nil)
        }
    }
}
