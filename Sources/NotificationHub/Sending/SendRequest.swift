import ByteText

/// One send, without the lines that the connection adds (request line, `Host`, `Authorization`, `Content-Length`). The
/// format determines `Content-Type`, unless the body is raw.
public struct SendRequest: Sendable, Hashable {
    /// The largest body that a hub accepts, in bytes. A larger one is answered with 413.
    public static let bodyLengthMax = 64 * 1024

    public var format: Platform
    /// A printed tag expression; never empty. Without the header the hub sends to every device, and with an empty one
    /// to no device.
    public var tags: String
    /// The platform's own headers, such as `apns-collapse-id`.
    public var fields: [HeaderField]
    public var body: [UInt8]
    /// True if the body is in no form that the platform knows, but bytes for the app: `X-WNS-Type: wns/raw`.
    public var isRaw: Bool

    public init(
        format: Platform, tags: String, fields: [HeaderField] = [], body: [UInt8], isRaw: Bool = false
    ) {
        self.format = format
        self.tags = tags
        self.fields = fields
        self.body = body
        self.isRaw = isRaw
    }

    public var contentType: String { isRaw ? "application/octet-stream" : format.contentType }
}

/// One HTTP header field.
public struct HeaderField: Sendable, Hashable, Codable {
    /// The name. Receivers compare it without regard to case.
    public var name: String
    public var value: String

    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    /// True if the field can be part of an HTTP/1.1 request unchanged: the name is a token, and the value is printable
    /// ASCII, spaces and tabs. A line break in a value would start another header, and non-ASCII text may be altered in
    /// transit. RFC 9110 §5.1, §5.5.
    public var isSendable: Bool {
        !name.isEmpty && name.utf8.allSatisfy(\.isTokenCharacter)
            && value.utf8.allSatisfy { (0x20...0x7E).contains($0) || $0 == 0x09 }
    }
}

extension UInt8 {
    /// A letter, a digit or one of the marks that RFC 9110 §5.6.2 allows in a token.
    fileprivate var isTokenCharacter: Bool {
        isASCIILetter || isASCIIDigit || "!#$%&'*+-.^_`|~".utf8.contains(self)
    }
}

/// A request of any kind, as a pool carries it.
public enum HubCall: Sendable, Hashable {
    case send(SendRequest)
    /// A GET request for a target, the path and the query, for example `HubPath.details(of:)`. Its reply keeps its body.
    case question(target: String)

    /// Empty for a question.
    public var body: [UInt8] {
        switch self {
        case .send(let request): request.body
        case .question: []
        }
    }
}
