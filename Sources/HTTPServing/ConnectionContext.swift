package import Hummingbird
package import NIOCore

/// The connection that carried a request.
package struct ConnectionContext: InitializableFromSource, Sendable {
    /// The request's own channel: with HTTP/2, a stream of the connection.
    package let channel: any Channel
    /// The connection's channel; with HTTP/2 the parent of `channel`.
    package var connection: any Channel {
        channel is any SocketOptionProvider ? channel : channel.parent ?? channel
    }

    package init(source: ApplicationRequestContextSource) { channel = source.channel }

    package func caller(_ request: Request) -> Caller {
        Caller(connection: channel, head: request.head)
    }

    /// Registers a stream of events. Call it before answering a request with one.
    /// - Returns: false if no more streams are allowed: see `ConnectionLimits.streamsMax`.
    package func beginStream() async -> Bool {
        let mayBegin = channel.eventLoop.submit { [channel] in
            let pipeline = channel.pipeline.syncOperations
            if let stream = try? pipeline.handler(type: HTTP2StreamGuard.self) {
                return stream.beginEvents(on: channel)
            }
            return try pipeline.handler(type: ConnectionGuard.self).beginStream(on: channel)
        }
        return (try? await mayBegin.get()) ?? false
    }

    /// Waits on the connection's event loop. Returns at most one second after the connection was closed.
    package func pause(milliseconds: Int64) async {
        var left = milliseconds
        while left > 0, channel.isActive {
            try? await channel.eventLoop.scheduleTask(in: .milliseconds(min(left, 1000))) {}.futureResult.get()
            left -= 1000
        }
    }
}
