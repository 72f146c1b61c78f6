import HTTPServing
public import HubEmulator
public import NotificationHub

/// A hub that this process serves.
public final class RunningHub: Sendable {
    public let port: Int
    public let hubName: HubName
    /// The connection string for back ends, with all rights.
    public let connectionString: ConnectionString
    /// The connection string for apps, with the Listen right only; `nil` without such a rule.
    public let listenConnectionString: ConnectionString?
    /// The connection string with all rights on all hubs and on creating them; `nil` without a namespace rule.
    public let namespaceConnectionString: ConnectionString?
    private let hub: ServedHub
    private let server: RunningServer

    init(_ settings: HubServerSettings, _ hub: ServedHub, _ server: RunningServer) {
        port = server.port
        hubName = settings.hubName
        // A wildcard address is only for listening; clients cannot call it.
        let host = ["0.0.0.0", "::", ""].contains(settings.host) ? "127.0.0.1" : settings.host
        let endpoint = HubEndpoint(scheme: settings.security == .none ? .http : .https, host: host, port: port)
        let string = { (rule: AccessRule) in
            ConnectionString(endpoint: endpoint, keyName: rule.name, key: rule.primaryKey)
        }
        let (rules, chosen) = (hub.settings.rules, HubKeys.rule(of: settings, among: hub.settings))
        connectionString =
            chosen.map(string) ?? ConnectionString(endpoint: endpoint, keyName: "", key: AccessKey(""))
        listenConnectionString = rules.first { $0.rights == .listen }.map(string)
        namespaceConnectionString = hub.settings.namespaceRules.first.map(string)
        self.hub = hub
        self.server = server
    }

    /// The signed address of the container for the files of registration jobs. It is valid for a year.
    public var jobsContainerURL: String {
        let endpoint = connectionString.endpoint
        return hub.jobsContainerURL(base: "\(endpoint.scheme.rawValue)://\(endpoint.authority)")
    }

    /// The accepted sends that are still kept, oldest first.
    public var received: [ReceivedMessage] {
        hub.withHub { $0.received.entries(after: 0, limit: .max).map(\.entry) }
    }

    /// The number of sends accepted since the first start.
    public var receivedCount: Int { hub.withHub { $0.received.total } }

    /// The deliveries that are still kept, oldest first.
    public var delivered: [PushedNotification] {
        hub.withHub { $0.delivered.entries(after: 0, limit: .max).map(\.entry) }
    }

    /// Later deliveries of the first hub to these handles; ends with the server. `nil` if too many streams are open.
    public func deliveries(to handles: Set<String>) -> AsyncStream<PushedNotification>? {
        hub.streams.watch(Set(handles.flatMap(DeviceHandle.spellings)), of: hub.settings.name) { event in
            if case .delivery(let delivery) = event { delivery } else { nil }
        }
    }

    public var registrationCount: Int { hub.withHub { $0.registrationCount } }

    /// Makes the hub misbehave; see `HubFault`.
    public func add(_ fault: HubFault) { hub.withHub { $0.add(fault) } }

    public func clearFaults() { hub.withHub { $0.clearFaults() } }

    /// Closes the port, every connection and the store. Returns when all are closed.
    public func stop() async {
        await server.stop()
        hub.closeStore()
    }
}
