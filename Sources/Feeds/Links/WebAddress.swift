import ByteText

/// The parts of an absolute http or https address, ready for a request and for a reader's phone.
///
/// Characters that no address may contain are percent-encoded, and an international host name is in its ASCII form (RFC
/// 3492). Nothing else is changed.
public struct WebAddress: Sendable, Hashable {
    /// Maximum bytes of an address. A longer one is not read.
    static let textMax = 8 << 10

    public enum Scheme: String, Sendable, Hashable {
        case http, https

        public var defaultPort: Int { self == .http ? 80 : 443 }
    }

    public var scheme: Scheme
    /// `user:password`, as written in the address. It must never be logged.
    public var userInfo: String?
    /// In lower case and ASCII; an IPv6 address is in brackets.
    public var host: String
    /// 1…65535; `nil` if the address does not name a port.
    public var statedPort: Int?
    /// Empty, or begins with a slash.
    public var path: String
    /// Without the question mark.
    public var query: String?
    /// Without the number sign. Never sent to a server.
    public var fragment: String?

    public var port: Int { statedPort ?? scheme.defaultPort }

    /// The value of a request's Host field.
    public var authority: String {
        guard let statedPort, statedPort != scheme.defaultPort else { return host }
        return "\(host):\(statedPort)"
    }

    /// The whole address as text.
    public var text: String {
        var text = scheme.rawValue + "://"
        if let userInfo { text += userInfo + "@" }
        text += host
        if let statedPort { text += ":\(statedPort)" }
        text += path
        if let query { text += "?" + query }
        if let fragment { text += "#" + fragment }
        return text
    }

    /// The address for logs and status, which anyone may read. It has no user information and no query, because
    /// publishers put keys there.
    public var shown: String {
        var address = self
        (address.userInfo, address.fragment) = (nil, nil)
        if address.query != nil { address.query = "…" }
        return address.text
    }

    /// The address as `shown`, without its path, because some publishers put keys there.
    var shownHost: String { "\(scheme.rawValue)://\(authority)/…" }

    /// - Returns: `nil` for text that is not an absolute http or https address with a host.
    public init?(_ text: some StringProtocol) {
        guard let reference = Reference(text), let address = WebAddress(reference) else { return nil }
        self = address
    }

    private init?(_ reference: Reference) {
        guard let scheme = reference.scheme.flatMap(Scheme.init), let authority = reference.authority,
            let parts = Authority(authority)
        else { return nil }
        self.scheme = scheme
        userInfo = parts.userInfo
        host = parts.host
        statedPort = parts.port
        path = Self.withoutDotSegments(reference.path)
        query = reference.query
        fragment = reference.fragment
    }

    /// Resolves a reference in a document at this address. RFC 3986 §5.2.
    /// - Returns: `nil` for anything but http and https, such as `mailto:`.
    public func resolve(_ text: some StringProtocol) -> WebAddress? {
        guard var reference = Reference(text) else { return nil }
        if let scheme = reference.scheme {
            // `http:page` is relative, as in the RFC before this one.
            guard reference.authority == nil, scheme == self.scheme.rawValue else { return WebAddress(reference) }
        }
        reference.scheme = scheme.rawValue
        if reference.authority != nil { return WebAddress(reference) }
        var address = self
        address.fragment = reference.fragment
        if reference.path.isEmpty {
            address.query = reference.query ?? query
            return address
        }
        address.query = reference.query
        if reference.path.hasPrefix("/") {
            address.path = Self.withoutDotSegments(reference.path)
        } else {
            let folder = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path[...$0] } ?? "/"
            address.path = Self.withoutDotSegments(folder + reference.path)
        }
        return address
    }

    /// Resolves a reference in a document with these bases.
    /// - Parameter bases: from the outermost (the address of the document) to the nearest `xml:base`. Each may be
    ///   relative to the one before. Invalid ones are skipped.
    public static func resolve(_ text: some StringProtocol, against bases: [String]) -> WebAddress? {
        var base: WebAddress?
        for next in bases { base = (base?.resolve(next) ?? WebAddress(next)) ?? base }
        return base.map { $0.resolve(text) } ?? WebAddress(text)
    }

    /// Resolves a reference against one base, as text.
    /// - Parameter base: an absolute address. With any other text, only an absolute reference is resolved.
    public static func resolve(_ text: some StringProtocol, base: String) -> String? {
        isNormal(text) ? String(text) : resolve(text, against: [base])?.text
    }

    /// Removes dot segments segment by segment, RFC 3986 §5.2.4.
    private static func withoutDotSegments(_ path: String) -> String {
        guard path.utf8.contains(UInt8(ascii: ".")) else { return path }
        var kept: [Substring] = []
        let segments = path.split(separator: "/", omittingEmptySubsequences: false)
        for (index, segment) in segments.enumerated() {
            let isLast = index == segments.count - 1
            switch segment {
            case ".": if isLast { kept.append("") }
            case "..":
                if kept.count > 1 { kept.removeLast() }
                if isLast { kept.append("") }
            default: kept.append(segment)
            }
        }
        return kept.joined(separator: "/")
    }
}
