public import HTTPServing
public import HubEmulator
public import NotificationHub

public struct HubServerSettings: Sendable {
    /// The server's use of TLS.
    public enum Security: Sendable, Hashable {
        /// Plain http without TLS.
        case none
        /// https with a self-signed certificate for this host's names, made at start.
        case selfSigned
        /// https with a certificate chain and its key, both PEM files.
        case files(certificate: String, key: String)
    }

    /// The address to listen on. With any address but loopback, others on the network can use the hub.
    public var host: String
    /// The port; 0 lets the system choose.
    public var port: Int
    public var hubName: HubName
    /// The rule and key that open the hub; `nil` uses the keys in the store or makes new ones at start.
    public var connectionString: ConnectionString?
    public var security = Security.none
    /// The file for registrations and messages; `nil` keeps them in memory only.
    public var storePath: String?
    /// The number of simulated devices to register before the port opens. They are kept in memory only.
    public var devices = 0
    /// Lets callers from other machines use `/_emulator` if they address this one by its IP address or by a name
    /// without a dot.
    public var allowsRemoteInspection = false
    /// Registers the page's phones before the port opens. Otherwise they wait until a reader chooses categories.
    public var subscribesPhones = false
    /// The address of the publisher's dashboard, to which the page links; `nil` if there is no dashboard.
    public var dashboard: @Sendable () -> String? = { nil }
    /// Receives a line for the operator when the store cannot be written, and another when it has recovered.
    public var report: @Sendable (String) -> Void = { _ in }
    /// Receives the stories written on the page instead of the hub. The demo publishes them to a topic.
    public var publish: (@Sendable (ComposedStory) async throws -> Void)?
    /// The limits of connections. Clients keep connections for reuse, some of them for a minute.
    package var limits = HubServerSettings.standardLimits
    package var uploads = UploadLimits()
    /// Changes the hub's settings before it starts: tier, limits, and how many sends are kept.
    public var configure: @Sendable (inout HubSettings) -> Void = { _ in }

    private static var standardLimits: ConnectionLimits {
        var limits = ConnectionLimits(
            firstByte: .seconds(10), head: .seconds(10), body: .seconds(10), idle: .seconds(120), write: .seconds(20),
            connectionsMax: 4096, streamsMax: DeliveryStreams.watchersMax / 2)
        // A tag expression is a header field and may be long.
        (limits.headerFieldMax, limits.headerMax) = (32_768, 65_536)
        return limits
    }

    public init(
        host: String = "127.0.0.1", port: Int = 8090, hubName: HubName, connectionString: ConnectionString? = nil
    ) {
        self.host = host
        self.port = port
        self.hubName = hubName
        self.connectionString = connectionString
    }
}

/// The reason why a hub could not be served.
public enum HubServerProblem: Error, Sendable, Hashable, CustomStringConvertible {
    case settings([String])
    case listen(ListenFailure)
    case certificate(String)
    /// The file, the error, and the remedy.
    case store(String, String, remedy: String)

    /// The error and the remedy, without the path, which clients must not see.
    var cause: String {
        if case .store(_, let reason, let remedy) = self { "\(reason); \(remedy)" } else { description }
    }

    public var description: String {
        switch self {
        case .settings(let problems): problems.joined(separator: " ")
        case .listen(let failure): "\(failure); \(failure.remedy)"
        case .certificate(let reason): "the certificate cannot be used: \(reason)"
        case .store(let path, _, _): "the store \(path) cannot be used: \(cause)"
        }
    }
}
