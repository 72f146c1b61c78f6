public import NotificationHub

/// The target of a pool's requests: the `messages` resource of one hub.
public struct SendTarget: Sendable, Hashable {
    public var endpoint: HubEndpoint
    /// The path and the query.
    public var path: String

    public init(endpoint: HubEndpoint, hub: HubName) {
        self.endpoint = endpoint
        path = HubPath(endpoint: endpoint, hub: hub).send
    }
}

/// The limits of one pool.
public struct SenderLimits: Sendable, Hashable {
    /// The most open connections, at least 1. Each carries one request at a time.
    public var connections: Int
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

    /// - Parameter connections: also the most requests that may wait.
    public init(connections: Int) {
        self.connections = connections
        waitingMax = connections
    }
}
