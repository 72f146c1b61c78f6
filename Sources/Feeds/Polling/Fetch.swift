/// One document to fetch.
public struct FetchRequest: Sendable, Hashable {
    public var url: String
    /// Byte for byte as the publisher gave them; `nil` if they are missing or must not be used.
    public var validators: Validators?
    /// Sent to the host of `url` only, never to another after a redirect.
    public var headers: [HeaderField]
    /// Hosts at private addresses that may be connected to.
    public var allowPrivate: [String]
    /// A body with this hash is not parsed again.
    public var knownBodyHash: BodyHash?
    public var zoneMinutes: Int

    public init(
        url: String, validators: Validators? = nil, headers: [HeaderField] = [], allowPrivate: [String] = [],
        knownBodyHash: BodyHash? = nil, zoneMinutes: Int = 0
    ) {
        self.url = url
        self.validators = validators
        self.headers = headers
        self.allowPrivate = allowPrivate
        self.knownBodyHash = knownBodyHash
        self.zoneMinutes = zoneMinutes
    }
}

/// Values from the publisher, by which a request asks whether a document has changed.
public struct Validators: Sendable, Hashable {
    /// Includes quotes and the weak prefix.
    public var etag: String?
    /// The header's text as received.
    public var lastModified: String?

    public init(etag: String? = nil, lastModified: String? = nil) {
        self.etag = etag
        self.lastModified = lastModified
    }
}

/// SHA-256 of a body after decompression, as lower-case hexadecimal.
public typealias BodyHash = String

/// The result of one fetch.
public enum FetchResult: Sendable, Hashable {
    case answered(FetchAnswer)
    case failed(FetchFailure)
}

/// The last answer of a fetch, after redirects.
public struct FetchAnswer: Sendable, Hashable {
    public var status: Int
    /// The headers in `FetchAnswer.wantedHeaders`, with names in lower case, in order of arrival.
    public var headers: [HeaderField]
    /// In order; empty if the first answer was the last.
    public var redirects: [Redirect]
    /// The address that gave this answer.
    public var finalURL: String
    /// Bytes after decompression; 0 without a body.
    public var bodyBytes: Int
    public var bodyHash: BodyHash?
    /// Present only for a 200 or 226 whose hash is not the known one.
    public var document: DocumentResult?

    public init(
        status: Int, headers: [HeaderField] = [], redirects: [Redirect] = [], finalURL: String, bodyBytes: Int = 0,
        bodyHash: BodyHash? = nil, document: DocumentResult? = nil
    ) {
        self.status = status
        self.headers = headers
        self.redirects = redirects
        self.finalURL = finalURL
        self.bodyBytes = bodyBytes
        self.bodyHash = bodyHash
        self.document = document
    }

    public enum DocumentResult: Sendable, Hashable {
        case feed(FeedDocument)
        case notAFeed(NotAFeed)
    }

    public struct Redirect: Sendable, Hashable {
        public var status: Int
        public var from: String
        public var to: String

        public init(status: Int, from: String, to: String) {
            self.status = status
            self.from = from
            self.to = to
        }

        /// True if the target replaces the address for good.
        var isPermanent: Bool { status == 301 || status == 308 }
    }

    /// Headers that decisions need. A fetcher drops all others.
    public static let wantedHeaders: Set<String> = [
        "age", "cache-control", "cf-mitigated", "content-location", "content-type", "date", "etag", "expires", "im",
        "last-modified", "link", "retry-after",
    ]

    public func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
}

/// The reason why there was no answer. The text never contains any part of a body.
public struct FetchFailure: Error, Sendable, Hashable {
    public var reason: Reason
    /// One sentence, with the remedy if one exists.
    public var detail: String

    public init(_ reason: Reason, _ detail: String) {
        self.reason = reason
        self.detail = detail
    }

    /// The raw value is a stable code for metrics and `--status`.
    public enum Reason: String, Sendable, Hashable, CaseIterable {
        case badAddress = "bad-address"
        /// A private address, or a port or scheme that must not be fetched.
        case forbiddenAddress = "forbidden-address"
        case unknownHost = "unknown-host"
        case connectFailed = "connect-failed"
        case tls
        case timeout
        case tooLarge = "too-large"
        case tooManyRedirects = "too-many-redirects"
        case redirectLoop = "redirect-loop"
        /// A redirect from https to http.
        case downgrade
        /// Not HTTP, or a broken body or compression.
        case protocolError = "protocol-error"
        /// The connection ended before the end of the answer.
        case disconnected
        case canceled
    }
}
