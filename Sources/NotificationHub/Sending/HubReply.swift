/// What the hub said to one send.
public struct HubReply: Sendable, Hashable {
    /// The HTTP status.
    public var status: Int
    /// How long the hub asked us to stay away, 0…86 400 s; `nil` when it named no time. RFC 9110 §10.2.3.
    public var retryAfter: Duration?
    /// The last segment of `Location`; only the Standard tier has one.
    public var notificationID: String?
    /// The service's own name for this request, to quote to its support.
    public var trackingID: String?
    /// The `<Detail>` of the error body, trimmed and bounded.
    public var detail: String?

    public init(
        status: Int, retryAfter: Duration? = nil, notificationID: String? = nil, trackingID: String? = nil,
        detail: String? = nil
    ) {
        self.status = status
        self.retryAfter = retryAfter
        self.notificationID = notificationID
        self.trackingID = trackingID
        self.detail = detail
    }
}
