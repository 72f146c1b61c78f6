public import NotificationHub

/// The target of a pool's sends: the `messages` resource of one hub.
public struct SendTarget: Sendable, Hashable {
    public var endpoint: HubEndpoint
    /// The path and the query.
    public var path: String

    public init(endpoint: HubEndpoint, hub: HubName) {
        self.endpoint = endpoint
        path = HubPath(endpoint: endpoint, hub: hub).send
    }
}

/// A request for a pool.
public struct PoolRequest: Sendable {
    /// Returned with the result. The pool does not interpret it.
    public var id: RequestID
    public var request: HubCall

    public init(id: RequestID, request: HubCall) {
        self.id = id
        self.request = request
    }
}
