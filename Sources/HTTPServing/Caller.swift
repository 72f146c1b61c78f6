import Foundation
package import HTTPTypes
package import NIOCore

/// The sender of a request, as described by its connection and its head.
package struct Caller: Sendable, Hashable {
    /// The address at the other end of the connection.
    package var address: String
    /// The host and port that the request was sent to (`Host`, or the target's authority).
    package var authority: String?
    /// The site whose page sent the request. Browsers add it.
    package var origin: String?
    /// True if a page of another site sent the request, according to the browser's `Sec-Fetch-Site`. Browsers omit
    /// `Origin` in many requests. False for a reader who follows a link, because the other page cannot read the answer.
    package var isFromElsewhere: Bool
    /// True if the request came through a proxy. The proxy's address does not identify the sender.
    package var isForwarded: Bool

    package init(
        address: String, authority: String?, origin: String? = nil, isFromElsewhere: Bool = false,
        isForwarded: Bool = false
    ) {
        self.address = address
        self.authority = authority
        self.origin = origin
        self.isFromElsewhere = isFromElsewhere
        self.isForwarded = isForwarded
    }

    /// - Parameter connection: the connection that carried the request.
    package init(connection: any Channel, head: HTTPRequest) {
        self.init(
            address: connection.remoteAddress?.ipAddress ?? "unknown", authority: head.authority,
            origin: head.headerFields[.origin], isFromElsewhere: Self.isFromElsewhere(head),
            isForwarded: head.headerFields.contains { Self.isAddedByProxies($0.name.canonicalName) })
    }

    private static func isFromElsewhere(_ head: HTTPRequest) -> Bool {
        let field = { (name: String) in HTTPField.Name(name).flatMap { head.headerFields[$0]?.lowercased() } }
        guard let site = field("Sec-Fetch-Site"), site != "same-origin", site != "none" else { return false }
        let followsLink =
            [.get, .head].contains(head.method) && field("Sec-Fetch-Mode") == "navigate"
            && field("Sec-Fetch-Dest") == "document"
        return !followsLink
    }

    /// Header fields that proxies, load balancers and content networks add. Each of these adds at least one.
    private static let forwardingFields: Set<String> = [
        "via", "forwarded", "forwarded-for", "client-ip", "true-client-ip", "x-client-ip", "x-cluster-client-ip",
        "x-host", "x-originating-ip", "x-remote-addr", "x-remote-ip", "x-amzn-trace-id", "cf-connecting-ip", "cf-ray",
        "fastly-client-ip", "cdn-loop",
    ]
    private static let forwardingPrefixes = ["x-forwarded", "x-real-", "x-original-", "x-proxy", "x-envoy-"]

    /// - Parameter field: in lower case.
    private static func isAddedByProxies(_ field: String) -> Bool {
        forwardingFields.contains(field) || forwardingPrefixes.contains { field.hasPrefix($0) }
    }

    /// True for a program on this machine that addresses this machine, or a page that this machine served.
    ///
    /// The connection's address alone does not prove it. With DNS rebinding, a page of another site makes a local
    /// browser connect to a name that resolves to 127.0.0.1. The page cannot make the browser send a different host
    /// than that name.
    package var isLocal: Bool {
        !isForwarded && Self.isLoopback(address) && Self.namesLoopback(authority ?? "") && isSameSite
    }

    /// True for a caller on any machine whose request names this one by its address, or by a name without a dot. No
    /// other site's page can do so, because a public DNS name has a dot.
    package var isInvited: Bool {
        let host = Self.host(of: authority ?? "")
        return isSameSite
            && (!host.isEmpty && !host.contains(".") || (try? SocketAddress(ipAddress: host, port: 0)) != nil)
    }

    /// The host without port and brackets; empty if the text is malformed.
    private static func host(of authority: String) -> String {
        let end = authority.hasPrefix("[") ? authority.firstIndex(of: "]") : authority.firstIndex(of: ":")
        guard let end else { return authority.hasPrefix("[") ? "" : authority }
        let isLiteral = authority.hasPrefix("[")
        let rest = isLiteral ? authority[authority.index(after: end)...] : authority[end...]
        guard isPort(rest) else { return "" }
        return String(isLiteral ? authority[..<end].dropFirst() : authority[..<end])
    }

    /// True if no page sent the request, or if the page came from the requested host.
    package var isSameSite: Bool {
        guard !isFromElsewhere else { return false }
        guard let origin else { return true }
        return origin == "http://\(authority ?? "")" || origin == "https://\(authority ?? "")"
    }

    /// `true` for `localhost` and for literal addresses of the loopback interface, with or without a port.
    package static func namesLoopback(_ authority: String) -> Bool {
        var host = authority[...]
        if host.hasPrefix("[") {
            guard let end = host.firstIndex(of: "]") else { return false }
            guard isPort(host[host.index(after: end)...]) else { return false }
            host = host[..<end].dropFirst()
            return host.contains(":") && isLoopback(String(host))
        }
        if let colon = host.firstIndex(of: ":") {
            guard isPort(host[colon...]) else { return false }
            host = host[..<colon]
        }
        return host.lowercased() == "localhost" || isLoopback(String(host))
    }

    /// `true` for literal loopback addresses: 127.0.0.0/8, `::1`, and IPv4 loopback addresses mapped to IPv6.
    package static func isLoopback(_ address: String) -> Bool {
        switch try? SocketAddress(ipAddress: address, port: 0) {
        case .v4(let v4): UInt32(bigEndian: v4.address.sin_addr.s_addr) >> 24 == 127
        case .v6(let v6):
            withUnsafeBytes(of: v6.address.sin6_addr) { bytes in
                bytes.elementsEqual([UInt8](repeating: 0, count: 15) + [1])
                    || bytes.prefix(13).elementsEqual([UInt8](repeating: 0, count: 10) + [0xff, 0xff, 127])
            }
        default: false
        }
    }

    private static func isPort(_ text: Substring) -> Bool {
        text.isEmpty || text.first == ":" && text.dropFirst().utf8.allSatisfy { (0x30...0x39).contains($0) }
    }
}
