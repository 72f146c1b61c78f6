/// How long a server's connections may take, and how many there may be.
///
/// Each limit answers a way to hold a connection for nothing. Time for making an answer is not limited: that is the
/// responder's, and some answers are slow on purpose.
package struct ConnectionLimits: Sendable {
    /// From the connection to the first byte of its first request; TLS is part of it.
    package var firstByte: Duration
    /// From a request's first byte to the end of its head, however steadily the bytes arrive.
    package var head: Duration
    /// From the end of a request's head to the end of its body, and a second more for each `bytesPerSecond` that have
    /// arrived.
    package var body: Duration
    /// From an answer to the first byte of the next request.
    package var idle: Duration
    /// An answer's reader takes `bytesPerSecond` on average over each time of this length, or loses the connection.
    package var write: Duration
    /// From the end of the last answer to the end of the connection, for its client to read it.
    package var farewell = Duration.seconds(2)
    /// The slowest client that is served.
    package var bytesPerSecond = 500
    /// One more makes the one that has done nothing for the longest time give way.
    package var connectionsMax: Int
    /// Streams of events, which may be open for days. One more ends the oldest. Less than `connectionsMax`, so that
    /// there is always room for others.
    package var streamsMax: Int
    /// A stream does not give way before: a crowd that asks for streams would only end those of one another.
    package var streamTime = Duration.seconds(5)
    /// Memory for requests of HTTP/2 that are open: their bookkeeping, and what their clients have not read of the answers.
    /// A client decides alone how much of an answer may be sent to it. A request too many of one connection is refused;
    /// when all connections together hold too much, the one that holds most is closed.
    package var heldMax = 64 * 1024 * 1024
    package var heldByConnectionMax = 8 * 1024 * 1024
    /// Bytes of one field of a head, and of all of them.
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

    /// With no more connections than half of the files that this process may open: it needs others too.
    func fitting(filesMax: Int) -> ConnectionLimits {
        var limits = self
        limits.connectionsMax = max(2, min(connectionsMax, filesMax / 2))
        limits.streamsMax = max(1, min(streamsMax, limits.connectionsMax / 2))
        return limits
    }
}
