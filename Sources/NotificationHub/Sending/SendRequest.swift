/// One send: what goes on the wire besides the connection's own lines (request line, `Host`, `Authorization`,
/// `Content-Length`). `Content-Type` follows the format.
public struct SendRequest: Sendable, Hashable {
    /// The largest body a hub takes, in bytes; a larger one is answered with 413.
    public static let bodyLengthMax = 64 * 1024

    public var format: NotificationFormat
    /// A printed tag expression, never empty: without the header the hub sends to every device, with an empty one
    /// to none.
    public var tags: String
    /// The platform's own headers, such as `apns-collapse-id`.
    public var fields: [HeaderField]
    public var body: [UInt8]

    public init(format: NotificationFormat, tags: String, fields: [HeaderField] = [], body: [UInt8]) {
        self.format = format
        self.tags = tags
        self.fields = fields
        self.body = body
    }
}
