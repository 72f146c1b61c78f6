/// Limits on the time and the number of a server's connections.
///
/// Each limit protects against one way to occupy a connection without using it. The time for making an answer is not
/// limited, because some answers are slow on purpose.
package struct ConnectionLimits: Sendable {
    /// The time from the connection to the first byte of its first request, including TLS.
    package var firstByte: Duration
    /// The time from a request's first byte to the end of its head, however steadily the bytes arrive.
    package var head: Duration
    /// The time from the end of a request's head to the end of its body. Each `bytesPerSecond` bytes that arrive add a
    /// second.
    package var body: Duration
    /// The time from an answer to the first byte of the next request.
    package var idle: Duration
    /// The period over which an answer's reader must average `bytesPerSecond`. A slower reader loses the connection.
    package var write: Duration
    /// The time after the last answer during which its client may read it, before the connection ends.
    package var farewell = Duration.seconds(2)
    /// The minimum speed of a client.
    package var bytesPerSecond = 500
    /// The limit of connections. Beyond it, the connection that has been idle longest is closed.
    package var connectionsMax: Int
    /// The limit of event streams, which may be open for days. Beyond it, the oldest one ends. Lower than
    /// `connectionsMax`, so that there is always room for other requests.
    package var streamsMax: Int
    /// The minimum life of a stream, so that clients that open many streams do not keep ending one another's.
    package var streamTime = Duration.seconds(5)
    /// Memory for open HTTP/2 requests: their bookkeeping, and the unread parts of answers. With HTTP/2 the client
    /// alone decides how much of an answer may be sent. A request beyond the limit of one connection is refused. Beyond
    /// the limit of all connections, the one that uses most is closed.
    package var heldMax = 64 * 1024 * 1024
    package var heldByConnectionMax = 8 * 1024 * 1024
    /// Bytes of one header field, and of all fields of a head.
    package var headerFieldMax = 8192
    package var headerMax = 16_384

    package init(
        firstByte: Duration, head: Duration, body: Duration, idle: Duration, write: Duration, connectionsMax: Int,
        streamsMax: Int
    ) {
        self.firstByte = firstByte
        self.head = head
        self.body = body
        self.idle = idle
        self.write = write
        self.connectionsMax = connectionsMax
        self.streamsMax = streamsMax
    }

    /// Limits connections to half of the files that this process may open, because it needs other files too.
    func fitting(filesMax: Int) -> ConnectionLimits {
        var limits = self
        limits.connectionsMax = max(2, min(connectionsMax, filesMax / 2))
        limits.streamsMax = max(1, min(streamsMax, limits.connectionsMax / 2))
        return limits
    }
}
