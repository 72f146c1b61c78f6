public import NotificationHub

/// Sends requests to a hub. Apps use `SessionTransport`; tests may bring their own.
public protocol HubTransport: Sendable {
    /// - Throws: if there is no reply; `HubTransportProblem` gives the reason.
    func send(_ request: HubRequest) async throws -> HubResponse
}

public struct HubRequest: Sendable, Hashable {
    public var method: String
    public var endpoint: HubEndpoint
    /// Path and query, ready for the request line.
    public var target: String
    public var fields: [HeaderField]
    public var body: [UInt8]

    public init(
        method: String, endpoint: HubEndpoint, target: String, fields: [HeaderField] = [], body: [UInt8] = []
    ) {
        self.method = method
        self.endpoint = endpoint
        self.target = target
        self.fields = fields
        self.body = body
    }
}

public struct HubResponse: Sendable, Hashable {
    public var status: Int
    public var fields: [HeaderField]
    public var body: [UInt8]

    public init(status: Int, fields: [HeaderField] = [], body: [UInt8] = []) {
        self.status = status
        self.fields = fields
        self.body = body
    }
}

/// The reason why a request had no reply.
public struct HubTransportProblem: Error, Sendable, Hashable, CustomStringConvertible {
    public var description: String

    public init(_ description: String) { self.description = description }
}
