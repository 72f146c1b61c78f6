import HubEmulator
public import NotificationHub

/// The addresses and connection strings of a running hub.
public struct HubAddress: Sendable {
    public let port: Int
    public let hubName: HubName
    /// The connection string for back ends, with all rights.
    public let connectionString: ConnectionString
    /// The connection string for apps, with the Listen right only; `nil` without such a rule.
    public let listenConnectionString: ConnectionString?
    /// The connection string with all rights on all hubs and on creating them; `nil` without a namespace rule.
    public let namespaceConnectionString: ConnectionString?

    init(_ settings: HubServerSettings, _ hub: HubSettings, port: Int) {
        let rules = hub.rules
        self.port = port
        hubName = settings.hubName
        let isSecure = settings.security != .none
        // A wildcard address is only for listening; clients cannot call it.
        let host = ["0.0.0.0", "::", ""].contains(settings.host) ? "127.0.0.1" : settings.host
        let endpoint = HubEndpoint(scheme: isSecure ? .https : .http, host: host, port: port)
        let chosen = Self.rule(of: settings, among: hub)
        connectionString = ConnectionString(
            endpoint: endpoint, keyName: chosen?.name ?? "", key: chosen?.primaryKey ?? AccessKey(""))
        namespaceConnectionString = hub.namespaceRules.first.map {
            ConnectionString(endpoint: endpoint, keyName: $0.name, key: $0.primaryKey)
        }
        listenConnectionString = rules.first { $0.rights == .listen }.map {
            ConnectionString(endpoint: endpoint, keyName: $0.name, key: $0.primaryKey)
        }
    }

    /// The rule for a back end: that of the given connection string, or one with all rights.
    static func rule(of settings: HubServerSettings, among hub: HubSettings) -> AccessRule? {
        let given = (hub.rules + hub.namespaceRules).first { $0.name == settings.connectionString?.keyName }
        return given ?? hub.rules.first { $0.rights.contains([.listen, .send, .manage]) } ?? hub.rules.first
    }
}
