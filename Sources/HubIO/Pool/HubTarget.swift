public import NotificationHub

/// Where a pool's requests go: one hub's `messages`.
public struct HubTarget: Sendable, Hashable {
    public var endpoint: HubEndpoint
    public var path: SendPath

    public init(endpoint: HubEndpoint, hub: HubName, apiVersion: String = SendPath.apiVersion) {
        self.endpoint = endpoint
        path = SendPath(endpoint: endpoint, hub: hub, apiVersion: apiVersion)
    }
}
