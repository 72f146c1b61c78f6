import NotificationHub

/// The host and port of a URL. A job reads and writes only at the host to which it was sent. The emulator cannot reach
/// other hosts, and would otherwise confuse their files with its own.
struct StorageHost: Sendable, Hashable {
    private let name: String
    private let port: Int

    /// - Returns: `nil` unless it is an http or https URL, and for a URL with a user name.
    init?(url: String) {
        guard let mark = url.firstRange(of: "://") else { return nil }
        let scheme = url[..<mark.lowerBound].lowercased()
        guard scheme == "http" || scheme == "https" else { return nil }
        self.init(authority: url[mark.upperBound...].prefix { !"/?#\\".contains($0) }, isSecure: scheme == "https")
    }

    init?(_ request: HubHTTPRequest) {
        self.init(authority: (request.headers["Host"] ?? "localhost")[...], isSecure: request.isSecure)
    }

    private init?(authority: Substring, isSecure: Bool) {
        guard let (host, port) = try? HubEndpoint.hostAndPort(authority) else { return nil }
        name = Self.isLoopback(host) ? "localhost" : host
        self.port = port ?? (isSecure ? 443 : 80)
    }

    /// True for names and addresses of this machine, which are all equivalent.
    private static func isLoopback(_ name: String) -> Bool {
        if name == "localhost" || name == "::1" { return true }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts.first == "127" && parts.allSatisfy { UInt8($0) != nil }
    }
}
