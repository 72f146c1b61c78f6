internal import HubIO
internal import HubModel

/// The connections to the hub.
public struct HubWire: Sendable, Hashable {
    public var connections = 0
    /// The open streams of HTTP/2 connections; 0 over HTTP/1.1, where each connection carries one request.
    public var streams = 0
    /// The version of HTTP that the hub chose last, e.g. `HTTP/2`; `nil` before the first connection was ready.
    public var http: String?

    public init() {}

    init(_ pool: SenderPool) {
        connections = pool.openConnections
        streams = pool.openStreams
        http = pool.http?.rawValue
    }

    mutating func add(_ other: HubWire) {
        connections += other.connections
        streams += other.streams
        http = http ?? other.http
    }
}
