/// One request as it arrived at the hub.
public struct HubHTTPRequest: Sendable {
    public var method: String
    /// Path and query exactly as sent, for example `/BreakingNews/messages/?api-version=2020-06`.
    public var target: String
    /// Header fields, `Host` among them (from `:authority` in HTTP/2).
    public var headers: HubHeaders
    public var body: [UInt8]
    /// Whether the body was longer than the server cared to read; `body` is then not all of it.
    public var bodyIsTooLong = false
    /// Whether it came over TLS.
    public var isSecure = false

    public init(method: String, target: String, headers: HubHeaders = [:], body: [UInt8] = []) {
        self.method = method
        self.target = target
        self.headers = headers
        self.body = body
    }

    /// The host without its port, as the client spelled it; empty when it named none.
    var hostName: Substring {
        guard let host = headers["Host"] else { return "" }
        if host.hasPrefix("[") { return host.prefix { $0 != "]" }.dropFirst() }
        return host.prefix { $0 != ":" }
    }

    /// Scheme and authority, for addresses in answers.
    var base: String { (isSecure ? "https://" : "http://") + (headers["Host"] ?? "localhost") }
}
