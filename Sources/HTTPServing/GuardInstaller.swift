import NIOCore
import NIOHTTP1

/// Adds the guard of the connection's protocol right after the request decoder.
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
                // This is an HTTP/2 stream, whose decoder is the last handler in the pipeline at this point.
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
