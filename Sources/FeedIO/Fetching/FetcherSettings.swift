import Feeds
public import NIOSSL

/// The settings of all fetches of a process.
public struct FetcherSettings: Sendable {
    public var limits = FetchLimits()
    /// An address of the operator, sent with each request, because publishers block readers that they cannot contact.
    public var contact: String?
    /// The authorities whose certificates are trusted.
    public var trust = NIOSSLTrustRoots.default
    /// Maximum number of name lookups at the same time. Each occupies a thread as long as the name servers take. A few
    /// dead name servers must not delay the lookups of all other feeds.
    public var lookups = 16
    /// Maximum bytes of bodies that all fetches together keep. Beyond it, fetches wait for one another.
    public var bodies = 32 << 20
    /// Number of documents unpacked and read at the same time, each by one thread.
    public var readers = 2

    public init() {}

    /// Trusts the certificates that `SSL_CERT_FILE` or `SSL_CERT_DIR` names, as other programs do.
    public mutating func trustCertificates(of environment: [String: String]) {
        let path = ["SSL_CERT_FILE", "SSL_CERT_DIR"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
        if let path { trust = .file(path) }
    }

    var userAgent: String {
        let contact = (contact ?? "").unicodeScalars.filter {
            ("!"..."~").contains($0) && !"()\\".unicodeScalars.contains($0)
        }
        return contact.isEmpty
            ? "Newswire/1.0" : "Newswire/1.0 (+\(String(String.UnicodeScalarView(contact)).prefix(200)))"
    }
}

public struct FetchLimits: Sendable, Hashable {
    /// Limit for the name lookup and the TCP connection of one hop.
    public var connect: Duration = .seconds(10)
    /// Limit from the first hop to the last byte.
    public var whole: Duration = .seconds(20)
    /// Maximum bytes before and after decompression. Their ratio is not limited, because news repeats itself, and this
    /// limit also bounds what a small bomb can unpack to.
    public var body = FeedLimits.document
    /// Maximum bytes before the body: the head, and all informational answers before it.
    public var head = 64 << 10
    public var headerFields = 256
    public var redirects = 5
    /// Ports that are allowed in addition to that of the configured address.
    public var ports = AddressRules.usualPorts

    public init() {}
}
