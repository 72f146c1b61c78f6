import ByteText

/// Where a namespace of hubs answers: scheme, host, port and, behind a gateway, a path before the hub's name.
public struct HubEndpoint: Sendable, Hashable, CustomStringConvertible {
    public enum Scheme: String, Sendable, Hashable {
        case http, https

        public var defaultPort: Int { self == .https ? 443 : 80 }
    }

    public static let hostLengthMax = 253

    public var scheme: Scheme
    /// Lower case. An IPv6 address stands without its brackets.
    public var host: String
    /// 1…65 535.
    public var port: Int
    /// Empty, or `/a/b`: percent-encoded as it was written, without a slash at the end.
    public var basePath: String

    /// Trusts its arguments; a text from outside goes through `init(parsing:)`.
    public init(scheme: Scheme, host: String, port: Int? = nil, basePath: String = "") {
        self.scheme = scheme
        self.host = host
        self.port = port ?? scheme.defaultPort
        self.basePath = basePath
    }

    /// What `Host` says, and the authority of a URI: brackets around IPv6, the port only when it is not the scheme's.
    public var authority: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == scheme.defaultPort ? name : "\(name):\(port)"
    }

    public var description: String { "\(scheme.rawValue)://\(authority)\(basePath)/" }

    /// The audience to sign tokens for: the lower-cased root, with its slash, and no path.
    ///
    /// This is what Microsoft's JavaScript client signs. The services accept it for every call and for keys of the
    /// hub as well as of the namespace, whatever the letter case of the hub's name, so that one token serves a whole
    /// process; a key of one hub still opens that hub only.
    public var audience: String { "\(scheme.rawValue)://\(authority)/".asciiLowercased }
}
