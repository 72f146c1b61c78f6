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
    /// Documents unpacked and read at the same time, each by a thread.
    public var readers = 2

    public init() {}

    var userAgent: String {
        let contact = (contact ?? "").unicodeScalars.filter {
            ("!"..."~").contains($0) && !"()\\".unicodeScalars.contains($0)
        }
        return contact.isEmpty
            ? "Newswire/1.0" : "Newswire/1.0 (+\(String(String.UnicodeScalarView(contact)).prefix(200)))"
    }
}
