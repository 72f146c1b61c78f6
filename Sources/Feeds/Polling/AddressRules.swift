import ByteText

/// Which addresses may be fetched on behalf of a configured one. The configuration is trusted; redirects, WebSub hubs and
/// the answers of name servers are not.
public struct AddressRules: Sendable, Hashable {
    /// Ports that may be connected to, next to that of the configured address.
    public static let usualPorts: Set<Int> = [80, 443, 8080, 8443]

    private let configured: FetchAddress
    private let ports: Set<Int>
    private let allowPrivate: [String]

    /// - Parameters:
    ///   - configured: where the fetch starts. For an address that came from outside (a hub's), give `isTrusted: false`:
    ///     its port then counts no more than that of a redirect.
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

    /// To be asked before each hop.
    /// - Parameter previous: the address that redirected here; `nil` for the first.
    /// - Returns: why it may not be fetched; `nil` when it may, as far as its text tells.
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

    /// To be asked for the very address that is connected to: a name may have another one a moment later.
    public func refusal(of ip: IPAddress, for host: String) -> FetchFailure? {
        guard !ip.isPublic, !allowPrivate.contains(host) else { return nil }
        return FetchFailure(
            .forbiddenAddress,
            "\(host) is at a private or special address; if that is meant, add allowPrivate: [\"\(host)\"] to the feed")
    }

    /// Whether the feed's own headers may be sent there: to where they were configured for, and to nobody else.
    public func sendsHeaders(to address: FetchAddress) -> Bool {
        let isUpgrade = !configured.isSecure && configured.port == 80 && address.isSecure && address.port == 443
        return address.host == configured.host && (isUpgrade || address.isSameOrigin(as: configured))
    }
}
