public import NotificationHub

/// The target of a pool's requests: one hub's `messages`.
public struct SendTarget: Sendable, Hashable {
    public var endpoint: HubEndpoint
    public var path: SendPath

    public init(endpoint: HubEndpoint, hub: HubName, apiVersion: String = SendPath.apiVersion) {
        self.endpoint = endpoint
        path = SendPath(endpoint: endpoint, hub: hub, apiVersion: apiVersion)
    }
}

/// The bounds of one pool.
public struct SenderLimits: Sendable, Hashable {
    /// Open connections, 1 or more; each carries one request at a time.
    public var connections: Int
    /// Requests that may wait for a connection. One more is not sent.
    public var waitingMax: Int
    /// A request that waited this long without being written is handed back as not sent, so that its sender decides again: the
    /// process may have been frozen, and the request recalled meanwhile. `nil`: it waits as long as it takes.
    public var waitingTimeout: Duration?
    /// From the start of a connection to the end of the TLS handshake, names resolved on the way.
    public var connectTimeout: Duration = .seconds(5)
    /// From the request on the wire to the last byte of its reply.
    public var requestTimeout: Duration = .seconds(30)
    /// Unused connections are closed after this time. Keep it below the server's own idle time: a request that crosses
    /// the server's close on the way ends as unknown. Microsoft's servers wait 120 s, nginx 75 s.
    public var idleTimeout: Duration = .seconds(60)
    /// Bytes of a reply's status line and header fields, and apart from them of its trailers.
    public var headBytesMax = 16 * 1024
    /// Bytes of a reply's body.
    public var bodyBytesMax = 64 * 1024

    /// - Parameter connections: also how many requests may wait.
    public init(connections: Int) {
        self.connections = connections
        waitingMax = connections
    }
}
