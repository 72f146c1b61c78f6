public import HTTPServing
public import HubEmulator
public import NotificationHub

/// The settings of a served hub.
public struct HubServerSettings: Sendable {
    /// The server's use of TLS.
    public enum Security: Sendable, Hashable {
        /// Plain http.
        case none
        /// https with a self-signed certificate for this host's names, made at start.
        case selfSigned
        /// https with a certificate chain and its key, both PEM files.
        case files(certificate: String, key: String)
    }

    /// The address to listen on. Any address but loopback lets others on the network use the hub.
    public var host: String
    /// 0 lets the system choose.
    public var port: Int
    public var hubName: HubName
    /// Its rule and key open the hub; `nil` makes keys at start, or takes those in the store.
    public var connectionString: ConnectionString?
    public var security = Security.none
    /// The file for registrations and messages; `nil` keeps them in memory only.
    public var storePath: String?
    /// Simulated devices to register before the port opens; they are kept in memory only.
    public var devices = 0
    /// Lets callers from other machines use `/_emulator`, if they name this one by its address or by a name without a
    /// dot.
    public var allowsRemoteInspection = false
    /// Registers the page's phones before the port opens; otherwise they wait for somebody to choose categories.
    public var subscribesPhones = false
    /// The address of the publisher's dashboard, for the page to link to; `nil` while there is none.
    public var dashboard: @Sendable () -> String? = { nil }
    /// Receives a line for the operator when the store cannot be written, and one when it is complete again.
    public var report: @Sendable (String) -> Void = { _ in }
    /// Receives the stories written on the page, in place of the hub itself: the demo puts them on a topic.
    public var publish: (@Sendable (ComposedStory) async throws -> Void)?
    /// Clients keep connections for reuse, some of them for a minute.
    package var limits = HubServerSettings.standardLimits
    package var uploads = UploadLimits()
    /// Changes the hub's own settings before it starts: tier, limits, what is kept.
    public var configure: @Sendable (inout HubSettings) -> Void = { _ in }

    private static var standardLimits: ConnectionLimits {
        var limits = ConnectionLimits(
            firstByte: .seconds(10), head: .seconds(10), body: .seconds(10), idle: .seconds(120), write: .seconds(20),
            connectionsMax: 4096, streamsMax: DeliveryStreams.watchersMax / 2)
        // A tag expression is a field, and may be long.
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
    /// The file, what is wrong with it, and what to do.
    case store(String, String, remedy: String)

    /// What is wrong and what to do, without the path, which is not for clients.
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
