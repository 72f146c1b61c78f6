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
    /// The values from the head that need no conversion. The status is 200…599.
    var known = HubReply(status: 0)
    /// The value of `Retry-After`: seconds or an HTTP date.
    var retryAfter: String?
    var body: [UInt8] = []
    /// True if the connection may carry another request.
    var keepsAlive = true

    mutating func reset() {
        known.status = 0
        known.notificationID = nil
        known.trackingID = nil
        retryAfter = nil
        body = []
        keepsAlive = true
    }

    /// Applies the rules of `HubReply.init(status:fields:body:now:)` to a head that the reader has already parsed.
    var hubReply: HubReply {
        // Nearly every reply to a send takes this path. It contains no further values of interest.
        if retryAfter == nil, known.status < 300, body.isEmpty { return known }
        var reply = known
        reply.body = body
        // Only a date needs the clock, in Unix seconds.
        reply.retryAfter = retryAfter.flatMap { RetryAfter.duration(of: $0, now: Int64(time(nil))) }
        guard reply.status >= 300, !body.isEmpty else { return reply }
        let error = ErrorBody(scanning: body)
        reply.detail = error.detail
        reply.trackingID = reply.trackingID ?? error.trackingID
        return reply
    }
}
