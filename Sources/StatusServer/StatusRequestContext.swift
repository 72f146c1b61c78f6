import HTTPServing
import Hummingbird
import NIOCore

/// The connection that a request came on.
struct StatusRequestContext: InitializableFromSource {
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        channel = source.channel
    }

    func caller(_ request: Request) -> Caller {
        Caller(connection: channel, head: request.head)
    }

    /// Waits on the connection's own event loop.
    func pause(seconds: Int64) async {
        try? await channel.eventLoop.scheduleTask(in: .seconds(seconds)) {}.futureResult.get()
    }
}
