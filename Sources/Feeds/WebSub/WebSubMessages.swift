/// A request that a WebSub hub sends to a callback.
public struct WebSubCall: Sendable, Hashable {
    public enum Kind: Sendable, Hashable {
        /// A GET: the hub verifies a subscription or reports that it is denied. The query's parameters are decoded.
        case verification([String: String])
        /// A POST with new content. Header names are in lower case; the body has at most 3 MiB.
        case delivery(headers: [HeaderField], body: [UInt8])
    }

    /// The last part of the callback's path, which names the subscription.
    public var path: String
    public var kind: Kind

    public init(path: String, kind: Kind) {
        self.path = path
        self.kind = kind
    }
}

/// The answer to a call of the hub; always `text/plain` with `nosniff`.
public struct WebSubAnswer: Sendable, Hashable {
    public var status: Int
    public var body: String

    public init(status: Int, body: String = "") {
        self.status = status
        self.body = body
    }
}

/// A form to post to a hub. Redirects 307 and 308 are followed with the same form. No description shows the form,
/// because it contains a secret.
public struct WebSubRequest: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    public var url: String
    /// Fields in the format `application/x-www-form-urlencoded`.
    public var form: [HeaderField]
    /// Hosts at private addresses that may be connected to.
    public var allowPrivate: [String]
    /// A port that is allowed besides the usual ones: the feed's port, because a CMS in the house is often its own hub.
    public var port: Int?

    public init(url: String, form: [HeaderField], allowPrivate: [String] = []) {
        self.url = url
        self.form = form
        self.allowPrivate = allowPrivate
    }

    public var description: String { "a form for \(url)" }
    public var customMirror: Mirror { Mirror(self, children: ["url": url]) }
}
