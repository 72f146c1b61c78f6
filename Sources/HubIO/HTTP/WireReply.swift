/// One HTTP reply as it stood on the wire, reduced to what a send needs.
package struct WireReply: Hashable, Sendable {
    /// 200…599.
    var status = 0
    /// The last segment of `Location`.
    var notificationID: String?
    /// The field's text: seconds or an HTTP date.
    var retryAfter: String?
    /// `TrackingId`, else `x-ms-correlation-request-id`.
    var trackingID: String?
    var body: [UInt8] = []
    /// Whether the connection may carry another request.
    var keepsAlive = true
}
