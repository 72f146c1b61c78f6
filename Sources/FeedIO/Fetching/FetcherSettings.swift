public import NIOSSL

/// What holds for all fetches of a process.
public struct FetcherSettings: Sendable {
    public var limits = FetchLimits()
    /// An address of the operator, sent with each request: publishers block readers that they cannot ask about.
    public var contact: String?
    /// The authorities whose certificates are trusted.
    public var trust = NIOSSLTrustRoots.default
    /// Lookups of names at the same time; each holds a thread as long as the name servers take. A few dead name servers
    /// must not keep all other feeds from being looked up.
    public var lookups = 16
    /// Bytes of bodies that all fetches together keep; beyond it, fetches wait for one another.
    public var bodies = 32 << 20
    /// Documents unpacked and read at the same time, each by a thread.
    public var readers = 2

    public init() {}

    /// Trusts what `SSL_CERT_FILE` or `SSL_CERT_DIR` name, as other programs do.
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
