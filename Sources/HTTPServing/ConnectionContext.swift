package import Hummingbird
package import NIOCore

/// The connection that a request came on.
package struct ConnectionContext: InitializableFromSource, Sendable {
    package let channel: any Channel

    package init(source: ApplicationRequestContextSource) {
        channel = source.channel
    }

    package func caller(_ request: Request) -> Caller {
        Caller(connection: channel, head: request.head)
    }

    /// Waits on the connection's own event loop, at most until a second after the connection was closed.
    package func pause(milliseconds: Int64) async {
        var left = milliseconds
        while left > 0, channel.isActive {
            try? await channel.eventLoop.scheduleTask(in: .milliseconds(min(left, 1000))) {}.futureResult.get()
            left -= 1000
        }
    }
}
