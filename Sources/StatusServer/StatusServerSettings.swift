/// The address of a publisher's status, and the callers that may act on it.
public struct StatusServerSettings: Sendable, CustomStringConvertible {
    /// The address to listen on. Any but loopback lets other machines read the status.
    public var host: String
    /// 0 lets the system choose.
    public var port: Int
    /// Callers that show it may pause and resume lanes from anywhere; without one, only callers on this machine may.
    public var token: String?

    /// The longest time for a request to arrive, and the longest that a connection may be idle.
    package var requestTimeout = Duration.seconds(10)
    package var idleTimeout = Duration.seconds(15)

    public init(host: String = "127.0.0.1", port: Int = 9464, token: String? = nil) {
        self.host = host
        self.port = port
        self.token = token
    }

    public var description: String { "\(host):\(port)" }
}
