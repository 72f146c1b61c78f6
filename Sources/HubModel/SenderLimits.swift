/// A version of HTTP that a pool can speak.
public enum HTTPVersion: String, Sendable, Hashable {
    case http1 = "HTTP/1.1"
    case http2 = "HTTP/2"
}

/// The limits of one pool.
public struct SenderLimits: Sendable, Hashable {
    /// The most requests in flight, at least 1. Over HTTP/1.1 each has a connection of its own.
    public var connections: Int
    /// Over TLS, the server may choose HTTP/2.
    public var offersHTTP2 = true
    /// The most requests that may wait for a connection. Further requests are not sent.
    public var waitingMax: Int
    /// The longest wait of a request before it is returned as not sent, or `nil` for no limit. The caller then decides
    /// again, because the process may have been frozen and the request recalled during the wait.
    public var waitingTimeout: Duration?
    /// The time from the start of a connection to the end of the TLS handshake, including name resolution.
    public var connectTimeout: Duration = .seconds(5)
    /// The time from writing the request to the last byte of its reply.
    public var requestTimeout: Duration = .seconds(30)
    /// The time after which unused connections are closed. Keep it below the server's own idle time, because a request
    /// that crosses the server's close ends as unknown. Microsoft's servers wait 120 s, nginx 75 s.
    public var idleTimeout: Duration = .seconds(60)
    /// Bytes of a reply's status line and header fields, and separately of its trailers.
    public var headBytesMax = 16 * 1024
    /// Bytes of a reply's body.
    public var bodyBytesMax = 64 * 1024

    /// The most streams of an HTTP/2 connection, so that a lost one leaves at most this many requests unknown.
    public static let streamsMax = 64

    /// - Parameter connections: also the most requests that may wait.
    public init(connections: Int) {
        self.connections = connections
        waitingMax = connections
    }
}
