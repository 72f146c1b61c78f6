public import NotificationHub

/// Carries one request to a hub. An app has `SessionTransport`; tests may have their own.
public protocol HubTransport: Sendable {
    /// - Throws: when there is no reply; `HubTransportProblem` says why.
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

/// Why a request had no reply.
public struct HubTransportProblem: Error, Sendable, Hashable, CustomStringConvertible {
    public var description: String

    public init(_ description: String) {
        self.description = description
    }
}
