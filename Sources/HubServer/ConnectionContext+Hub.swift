import Foundation
import HTTPServing
import NIOCore
import NIOHTTP1

extension ConnectionContext {
    /// Tells a client that asked (`Expect: 100-continue`) to send its body. The server does not support interim
    /// answers, so this one is written directly to the channel.
    func invite() {
        channel.eventLoop.execute { [channel] in
            let encoder = try? channel.pipeline.syncOperations.context(handlerType: HTTPResponseEncoder.self)
            encoder?.writeAndFlush(NIOAny(ByteBuffer(string: "HTTP/1.1 100 Continue\r\n\r\n")), promise: nil)
        }
    }

    /// Ends the connection with a reset instead of an orderly close.
    func reset() async {
        let abort = linger(l_onoff: 1, l_linger: 0)
        try? await (channel as? any SocketOptionProvider)?.setSoLinger(abort).get()
        try? await channel.close().get()
    }
}
