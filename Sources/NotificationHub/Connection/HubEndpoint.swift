import ByteText

/// The address of a namespace of hubs: scheme, host, port and, behind a gateway, a path before the hub's name.
public struct HubEndpoint: Sendable, Hashable, CustomStringConvertible {
    public enum Scheme: String, Sendable, Hashable {
        case http, https

        public var defaultPort: Int { self == .https ? 443 : 80 }
    }

    public static let hostLengthMax = 253

    public var scheme: Scheme
    /// The host in lower case, without the brackets of an IPv6 address.
    public var host: String
    /// The port, 1…65 535.
    public var port: Int
    /// The base path: empty, or like `/a/b`, percent-encoded as written and without a trailing slash.
    public var basePath: String

    /// Creates an endpoint without checking its arguments. Use `init(parsing:)` for external text.
    public init(scheme: Scheme, host: String, port: Int? = nil, basePath: String = "") {
        self.scheme = scheme
        self.host = host
        self.port = port ?? scheme.defaultPort
        self.basePath = basePath
    }

    /// The value of `Host` and the authority of a URI: IPv6 addresses in brackets, and the port unless it is the
    /// scheme's default.
    public var authority: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == scheme.defaultPort ? name : "\(name):\(port)"
    }

    public var description: String { "\(scheme.rawValue)://\(authority)\(basePath)/" }

    /// The audience for tokens: the lower-cased root with its slash, without a path and without a dot at the end of the name.
    ///
    /// Microsoft's JavaScript client signs the same audience. The service accepts it for every call, with keys of the
    /// hub and of the namespace, and for any letter case of the hub's name. One token therefore serves a whole process.
    /// A key of one hub still opens only that hub.
    public var audience: String {
        var root = self
        if root.host.hasSuffix(".") { root.host.removeLast() }
        return "\(scheme.rawValue)://\(root.authority)/".asciiLowercased
    }
}

extension HubEndpoint {
    /// Reads `sb://host/`, `https://host:port/path` or `http://…`; `sb` means https, as in every official client.
    public init(parsing text: some StringProtocol) throws(HubEndpointProblem) {
        let text = String(text)
        guard let separator = text.firstRange(of: "://") else { throw .scheme }
        guard let scheme = Self.schemes[text[..<separator.lowerBound].asciiLowercased] else { throw .scheme }
        let rest = text[separator.upperBound...]
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let (host, port) = try Self.hostAndPort(authority)
        self.init(
            scheme: scheme, host: host, port: port, basePath: try Self.basePath(rest[authority.endIndex...]))
    }

    private static let schemes: [String: Scheme] = ["sb": .https, "https": .https, "http": .http]

    /// The host in lower case, without the brackets of an IPv6 address, and the port if there is one.
    package static func hostAndPort(_ authority: Substring) throws(HubEndpointProblem) -> (host: String, port: Int?) {
        let host: Substring
        let tail: Substring
        if authority.first == "[" {
            guard let close = authority.firstIndex(of: "]") else { throw .host }
            host = authority[..<close].dropFirst()
            tail = authority[close...].dropFirst()
            guard isIPv6Shaped(host) else { throw .host }
        } else {
            host = authority.prefix { $0 != ":" }
            tail = authority[host.endIndex...]
            guard isNameShaped(host) else { throw .host }
        }
        guard !tail.isEmpty else { return (host.asciiLowercased, nil) }
        guard tail.first == ":" else { throw .host }
        let digits = tail.dropFirst()
        guard digits.utf8.count <= 5, digits.utf8.allSatisfy(\.isASCIIDigit), let port = Int(digits),
            (1...65_535).contains(port)
        else { throw .port }
        return (host.asciiLowercased, port)
    }

    /// True for the form of a DNS name or an IPv4 address. Includes `_`, because container networks use it.
    private static func isNameShaped(_ host: Substring) -> Bool {
        guard (1...hostLengthMax).contains(host.utf8.count) else { return false }
        let labels = host.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        // A dot at the end stands for the DNS root.
        let named = labels.last?.isEmpty == true ? labels.dropLast() : labels[...]
        return !named.isEmpty
            && named.allSatisfy { label in
                (1...63).contains(label.count)
                    && label.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || "-_".utf8.contains($0) }
            }
    }

    /// True for the characters of an IPv6 address. The resolver decides whether the address is valid.
    private static func isIPv6Shaped(_ host: Substring) -> Bool {
        (2...45).contains(host.utf8.count) && host.contains(":")
            && host.utf8.allSatisfy { $0.hexDigitValue != nil || ":.".utf8.contains($0) }
    }

    /// Reads the path. Commas and equals signs are refused although a URI allows them, because a connection string with
    /// a wrong separator would contain them here, followed by the key.
    private static func basePath(_ path: Substring) throws(HubEndpointProblem) -> String {
        let accepts = { (byte: UInt8) in
            byte.isASCIILetter || byte.isASCIIDigit || "/-._~%".utf8.contains(byte)
        }
        guard path.utf8.count <= 1024, path.utf8.allSatisfy(accepts), path.percentDecoded() != nil
        else { throw .path }
        let segments = path.split(separator: "/")
        guard segments.allSatisfy({ $0 != "." && $0 != ".." }) else { throw .path }
        return segments.map { "/\($0)" }.joined()
    }
}

/// The reason why a text is not an endpoint. It never repeats the text, which could contain the key after a wrong
/// separator.
public enum HubEndpointProblem: Error, Sendable, Hashable, CustomStringConvertible {
    case scheme, host, port, path

    public var description: String {
        switch self {
        case .scheme:
            "the endpoint must start with sb://, https:// or http://, as in sb://NAMESPACE.servicebus.windows.net/"
        case .host:
            """
            the endpoint has no usable host; write a DNS name, an IPv4 address or an IPv6 address in [brackets], \
            without user name or password
            """
        case .port: "the endpoint's port must be a number from 1 to 65535"
        case .path:
            """
            the endpoint's path may only hold letters, digits, '-', '.', '_', '~', '%XX' and '/', and no query; \
            separate the parts of a connection string with ';'
            """
        }
    }
}
