import Foundation
import HTTPServing
import Hummingbird
import NIOCore
import NIOHTTP1

/// The responder's view of a connection: the caller, and a way to reset it.
struct HubRequestContext: InitializableFromSource {
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        channel = source.channel
    }

    func caller(_ request: Request) -> Caller {
        Caller(connection: channel, head: request.head)
    }

    /// Tells a client that asked (`Expect: 100-continue`) to send its body. The server does not support interim
    /// answers, so this one is written directly to the channel.
    func invite() {
        channel.eventLoop.execute { [channel] in
            let encoder = try? channel.pipeline.syncOperations.context(handlerType: HTTPResponseEncoder.self)
            encoder?.writeAndFlush(NIOAny(ByteBuffer(string: "HTTP/1.1 100 Continue\r\n\r\n")), promise: nil)
        }
    }

    /// Waits on the connection's own event loop, at most until a second after the connection was closed.
    func pause(milliseconds: Int64) async {
        var left = milliseconds
        while left > 0, channel.isActive {
            try? await channel.eventLoop.scheduleTask(in: .milliseconds(min(left, 1000))) {}.futureResult.get()
            left -= 1000
        }
    }

    /// Ends the connection with a reset instead of an orderly close.
    func reset() async {
        let abort = linger(l_onoff: 1, l_linger: 0)
        try? await (channel as? any SocketOptionProvider)?.setSoLinger(abort).get()
        try? await channel.close().get()
    }
}
