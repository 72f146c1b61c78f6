import HTTPServing
public import HubEmulator
public import NotificationHub

/// A hub that this process serves.
public final class RunningHub: Sendable {
    public let address: HubAddress
    private let hub: ServedHub
    private let server: RunningServer

    init(_ settings: HubServerSettings, _ hub: ServedHub, _ server: RunningServer) {
        address = HubAddress(settings, hub.settings, port: server.port)
        self.hub = hub
        self.server = server
    }

    public var port: Int { address.port }
    /// The signed address of the container for the files of registration jobs. It is valid for a year.
    public var jobsContainerURL: String {
        let endpoint = address.connectionString.endpoint
        return hub.jobsContainerURL(base: "\(endpoint.scheme.rawValue)://\(endpoint.authority)")
    }
    /// The connection string for back ends, with all rights.
    public var connectionString: ConnectionString { address.connectionString }
    /// The connection string for apps, with the Listen right only.
    public var listenConnectionString: ConnectionString? { address.listenConnectionString }
    /// The connection string with all rights on all hubs, for a client that creates and deletes hubs.
    public var namespaceConnectionString: ConnectionString? { address.namespaceConnectionString }

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

    /// The number of registrations.
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
