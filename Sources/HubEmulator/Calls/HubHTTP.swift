import ByteText
public import NotificationHub

/// One request as it arrived at the hub.
public struct HubHTTPRequest: Sendable {
    public var method: String
    /// Path and query exactly as sent, for example `/BreakingNews/messages/?api-version=2020-06`.
    public var target: String
    /// Header fields, `Host` among them (from `:authority` in HTTP/2).
    public var headers: HubHeaders
    public var body: [UInt8]
    /// True when the body exceeded the server's limit; `body` then holds only its start.
    public var bodyIsTooLong = false
    /// True when the request came over TLS.
    public var isSecure = false

    public init(method: String, target: String, headers: HubHeaders = [:], body: [UInt8] = []) {
        self.method = method
        self.target = target
        self.headers = headers
        self.body = body
    }

    /// The host without its port, as the client wrote it; empty without a `Host` field.
    var hostName: Substring {
        guard let host = headers["Host"] else { return "" }
        if host.hasPrefix("[") { return host.prefix { $0 != "]" }.dropFirst() }
        return host.prefix { $0 != ":" }
    }

    /// Scheme and authority, for addresses in answers.
    var base: String { (isSecure ? "https://" : "http://") + (headers["Host"] ?? "localhost") }
}

/// The hub's answer, and the way in which it is sent.
public struct HubHTTPResponse: Sendable, Equatable {
    /// The way in which the bytes are sent; anything but `whole` is an injected fault.
    public enum Transmission: Sendable, Equatable {
        case whole
        /// The connection is reset before any byte of the answer is sent.
        case reset
        /// The body is sent at this pace.
        case slow(bytesPerSecond: Int)
    }

    public var status: Int
    public var headers: HubHeaders
    public var body: [UInt8]
    /// The answer's delay in milliseconds, 0…600 000.
    public var delayMilliseconds: Int64 = 0
    public var transmission = Transmission.whole

    public init(status: Int, headers: HubHeaders = [:], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}

/// HTTP header fields in the order they were sent. Names compare without regard to case.
public struct HubHeaders: Sendable, Equatable, ExpressibleByDictionaryLiteral {
    public private(set) var fields: [HeaderField] = []

    public init() {}

    public init(fields: [HeaderField]) { self.fields = fields }

    public init(dictionaryLiteral elements: (String, String)...) {
        fields = elements.map { HeaderField($0.0, $0.1) }
    }

    public mutating func reserveCapacity(_ count: Int) { fields.reserveCapacity(count) }

    public mutating func append(_ name: String, _ value: String) {
        fields.append(HeaderField(name, value))
    }

    /// The first field of that name.
    public subscript(name: String) -> String? {
        fields.first { $0.name.equalsIgnoringASCIICase(name) }?.value
    }
}
