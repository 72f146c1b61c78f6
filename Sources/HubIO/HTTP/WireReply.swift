internal import NotificationHub

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// The parts of an HTTP reply that a send needs.
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
    /// The connection may carry another request.
    var keepsAlive = true
}

extension HubReply {
    /// The same rules as `init(status:fields:body:now:)`, for a head that the reader has already sorted.
    init(_ wire: WireReply) {
        self.init(status: wire.status)
        trackingID = wire.trackingID
        notificationID = wire.notificationID
        // Only one that is a date needs the clock, in Unix seconds.
        retryAfter = wire.retryAfter.flatMap { RetryAfter.duration(of: $0, now: Int64(time(nil))) }
        guard status >= 300, !wire.body.isEmpty else { return }
        let error = ErrorBody(scanning: wire.body)
        detail = error.detail
        trackingID = trackingID ?? error.trackingID
    }
}
