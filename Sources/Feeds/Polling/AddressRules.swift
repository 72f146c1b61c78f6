import ByteText

/// Decides which addresses may be fetched for a configured one. The configuration is trusted; redirects, WebSub hubs
/// and the replies of name servers are not.
public struct AddressRules: Sendable, Hashable {
    /// Ports that are allowed in addition to the configured address's own port.
    public static let usualPorts: Set<Int> = [80, 443, 8080, 8443]

    private let configured: FetchAddress
    private let ports: Set<Int>
    private let allowPrivate: [String]

    /// - Parameters:
    ///   - configured: the address where the fetch starts. For an address from outside, such as a hub's, pass
    ///     `isTrusted: false`, so that its port is not allowed for that reason.
    ///   - allowPrivate: names of hosts, or literal addresses, that may be at private addresses.
    public init(
        configured: FetchAddress, isTrusted: Bool = true, allowPrivate: [String], ports: Set<Int> = Self.usualPorts
    ) {
        self.configured = configured
        self.ports = isTrusted ? ports.union([configured.port]) : ports
        self.allowPrivate = allowPrivate.map { name in
            let name = name.trimmed.asciiLowercased
            if name.hasPrefix("["), name.hasSuffix("]") { return String(name.dropFirst().dropLast()) }
            return name.hasSuffix(".") ? String(name.dropLast()) : name
        }
    }

    /// Must be called before each hop.
    /// - Parameter previous: the address that redirected here; `nil` for the first hop.
    /// - Returns: the reason why the address may not be fetched; `nil` if its text shows no reason.
    public func refusal(of address: FetchAddress, after previous: FetchAddress?) -> FetchFailure? {
        if let previous, previous.isSecure, !address.isSecure {
            return FetchFailure(.downgrade, "redirected from https to http, which is not followed")
        }
        guard ports.contains(address.port) else {
            return FetchFailure(
                .forbiddenAddress,
                "port \(address.port) of \(address.host) is not fetched: only that of the configured address and "
                    + "\(ports.sorted().map { "\($0)" }.joined(separator: ", "))")
        }
        return nil
    }

    /// Must be called for the very address of the connection, because a name may have another one a moment later.
    public func refusal(of ip: IPAddress, for host: String) -> FetchFailure? {
        guard !ip.isPublic, !allowPrivate.contains(host) else { return nil }
        return FetchFailure(
            .forbiddenAddress,
            "\(host) is at a private or special address; if that is meant, add allowPrivate: [\"\(host)\"] to the feed")
    }

    /// Returns true if the feed's own headers may be sent: only to the configured origin or its upgrade to https.
    public func sendsHeaders(to address: FetchAddress) -> Bool {
        let isUpgrade = !configured.isSecure && configured.port == 80 && address.isSecure && address.port == 443
        return address.host == configured.host && (isUpgrade || address.isSameOrigin(as: configured))
    }
}
