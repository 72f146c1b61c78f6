import ByteText

/// An absolute http or https address in its parts, ready for a request and for a reader's phone.
///
/// What no address may contain is percent-encoded, an international host name is in its ASCII form (RFC 3492), and nothing
/// else is changed.
public struct WebAddress: Sendable, Hashable {
    /// Bytes of an address; a longer one is not read.
    static let textMax = 8 << 10

    public enum Scheme: String, Sendable, Hashable {
        case http, https

        public var defaultPort: Int { self == .http ? 80 : 443 }
    }

    public var scheme: Scheme
    /// `user:password` as it stands in the address. Never to be logged.
    public var userInfo: String?
    /// In lower case and ASCII; an IPv6 address is in brackets.
    public var host: String
    /// 1…65535; `nil` when the address does not name one.
    public var statedPort: Int?
    /// Empty, or begins with a slash.
    public var path: String
    /// Without the question mark.
    public var query: String?
    /// Without the number sign. Never sent to a server.
    public var fragment: String?

    public var port: Int { statedPort ?? scheme.defaultPort }

    /// What the Host field of a request holds.
    public var authority: String {
        guard let statedPort, statedPort != scheme.defaultPort else { return host }
        return "\(host):\(statedPort)"
    }

    /// What the first line of a request holds. RFC 9112 §3.2.1.
    public var requestTarget: String {
        (path.isEmpty ? "/" : path) + (query.map { "?" + $0 } ?? "")
    }

    /// The address as text.
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

    /// For logs and status, where anyone may read it: without user information, and without the query, as publishers put keys
    /// there.
    public var shown: String {
        var address = self
        (address.userInfo, address.fragment) = (nil, nil)
        if address.query != nil { address.query = "…" }
        return address.text
    }

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

    /// What a reference means in a document at this address. RFC 3986 §5.2.
    /// - Returns: `nil` for anything but http and https, such as `mailto:`.
    public func resolve(_ text: some StringProtocol) -> WebAddress? {
        guard var reference = Reference(text) else { return nil }
        if let scheme = reference.scheme {
            // `http:page`, as in the RFC before this one.
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

    /// What a reference means in a document with these bases.
    /// - Parameter bases: from the outermost (the address of the document) to the nearest `xml:base`; each may be relative
    ///   to the one before. One that is not an address is passed over.
    public static func resolve(_ text: some StringProtocol, against bases: [String]) -> WebAddress? {
        var base: WebAddress?
        for next in bases { base = (base?.resolve(next) ?? WebAddress(next)) ?? base }
        return base.map { $0.resolve(text) } ?? WebAddress(text)
    }

    /// The same for one base, as text.
    /// - Parameter base: an absolute address; with any other, only an absolute reference is resolved.
    public static func resolve(_ text: some StringProtocol, base: String) -> String? {
        isNormal(text) ? String(text) : resolve(text, against: [base])?.text
    }

    /// RFC 3986 §5.2.4, segment by segment.
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
