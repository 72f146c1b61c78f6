/// What a device wants made of a template send: a payload of its platform with expressions such as `$(messageParam)`.
///
/// An expression is a whole JSON string, a whole XML text or attribute, or a whole header value; inside other text it
/// stays as it is.
public struct PushTemplate: Sendable, Hashable, Codable {
    /// Of a name, in bytes.
    public static let nameLengthMax = 200

    /// Becomes a tag of its registration.
    public var name: String
    /// JSON, or XML for Windows.
    public var body: String
    /// In the order of the wire. Windows needs `X-WNS-Type`; Apple's start with `apns-`.
    public var headers: [Header]
    /// Apple's alone: a date-time, `0` or an expression.
    public var expiry: String?

    public struct Header: Sendable, Hashable, Codable {
        public var name: String
        public var value: String

        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    public init(name: String, body: String, headers: [Header] = [], expiry: String? = nil) {
        self.name = name
        self.body = body
        self.headers = headers
        self.expiry = expiry
    }
}
