package import HTTPServing

/// The address of a publisher's status, and the callers that may act on it.
public struct StatusServerSettings: Sendable, CustomStringConvertible {
    /// The address to listen on. Any but loopback lets other machines read the status.
    public var host: String
    /// 0 lets the system choose.
    public var port: Int
    /// Callers that show it may pause and resume lanes from anywhere; without one, only callers on this machine may.
    public var token: String?

    /// Room for scrapers, probes and a handful of dashboards; Prometheus may ask every 15 seconds on one connection.
    package var limits = ConnectionLimits(
        firstByte: .seconds(5), head: .seconds(5), body: .seconds(5), idle: .seconds(20), write: .seconds(10),
        connectionsMax: 1024, streamsMax: 32)

    /// From one line in the log about refused actions of a kind to the next.
    package var refusalInterval = Duration.seconds(60)

    public init(host: String = "127.0.0.1", port: Int = 9464, token: String? = nil) {
        self.host = host
        self.port = port
        self.token = token
    }

    public var description: String { "\(host):\(port)" }
}
