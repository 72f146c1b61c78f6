/// Where the status of a publisher is served, and who may act on it.
public struct StatusServerSettings: Sendable, CustomStringConvertible {
    /// Anything but loopback lets others on the network read the status.
    public var host: String
    /// 0 lets the system choose.
    public var port: Int
    /// Callers that show it may pause and resume lanes from anywhere; without one only this machine may.
    public var token: String?

    /// How long a request may take to arrive whole, and how long a connection may be idle.
    package var requestTimeout = Duration.seconds(10)
    package var idleTimeout = Duration.seconds(15)

    public init(host: String = "127.0.0.1", port: Int = 9464, token: String? = nil) {
        self.host = host
        self.port = port
        self.token = token
    }

    public var description: String { "\(host):\(port)" }
}
