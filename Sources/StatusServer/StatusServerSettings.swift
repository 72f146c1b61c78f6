package import HTTPServing

/// The address of a publisher's status, and the callers that may act on it.
public struct StatusServerSettings: Sendable, CustomStringConvertible {
    /// The address to listen on. With any address but loopback, other machines can read the status.
    public var host: String
    /// The port; 0 lets the system choose.
    public var port: Int
    /// The token that permits pausing and resuming lanes from anywhere. Without it only callers on this machine may.
    public let token: BearerToken

    /// Limits with room for scrapers, probes and a few dashboards. Prometheus may scrape every 15 s on one connection.
    package var limits = ConnectionLimits(
        firstByte: .seconds(5), head: .seconds(5), body: .seconds(5), idle: .seconds(20), write: .seconds(10),
        connectionsMax: 1024, streamsMax: 32)

    /// The interval between two log lines about refused actions of one kind.
    package var refusalInterval = Duration.seconds(60)

    public init(host: String = "127.0.0.1", port: Int = 9464, token: BearerToken = BearerToken(nil)) {
        self.host = host
        self.port = port
        self.token = token
    }

    public var description: String { "\(host):\(port)" }
}
