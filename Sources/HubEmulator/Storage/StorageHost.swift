import ByteText

/// The host and port of a URL. A job reads and writes only at the host that it was sent to: the emulator reaches no other
/// one, and would otherwise take its own file for that of another.
struct StorageHost: Sendable, Hashable {
    private let name: String
    private let port: String

    /// - Returns: `nil` for anything but an http or https URL, and for one with a user's name.
    init?(url: String) {
        guard let mark = url.firstRange(of: "://") else { return nil }
        let scheme = url[..<mark.lowerBound].lowercased()
        guard scheme == "http" || scheme == "https" else { return nil }
        self.init(authority: url[mark.upperBound...].prefix { !"/?#\\".contains($0) }, isSecure: scheme == "https")
    }

    /// The host that a request was sent to.
    init?(_ request: HubHTTPRequest) {
        self.init(authority: (request.headers["Host"] ?? "localhost")[...], isSecure: request.isSecure)
    }

    private init?(authority: Substring, isSecure: Bool) {
        var name = authority
        var port = Substring()
        if let colon = authority.lastIndex(of: ":"), !authority.hasSuffix("]") {
            name = authority[..<colon]
            port = authority[authority.index(after: colon)...]
        }
        guard !name.isEmpty, !name.contains("@"), port.utf8.allSatisfy(\.isASCIIDigit) else { return nil }
        self.port = port.isEmpty ? (isSecure ? "443" : "80") : String(port)
        self.name = Self.isLoopback(name) ? "localhost" : name.lowercased()
    }

    /// Names of this machine mean the same.
    private static func isLoopback(_ name: Substring) -> Bool {
        if name.lowercased() == "localhost" || name == "[::1]" { return true }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts.first == "127" && parts.allSatisfy { UInt8($0) != nil }
    }
}
