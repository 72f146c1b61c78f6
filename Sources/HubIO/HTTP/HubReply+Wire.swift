internal import NotificationHub

extension HubReply {
    /// The same rules as `init(status:fields:body:now:)`, for a head that the reader has already sorted.
    /// - Parameter now: Unix seconds, for a `Retry-After` that is a date.
    init(_ wire: WireReply, now: @autoclosure () -> Int64) {
        self.init(status: wire.status)
        trackingID = wire.trackingID
        notificationID = wire.notificationID
        retryAfter = wire.retryAfter.flatMap { RetryAfter.duration(of: $0, now: now()) }
        guard status >= 300, !wire.body.isEmpty else { return }
        let error = ErrorBody(scanning: wire.body)
        detail = error.detail
        trackingID = trackingID ?? error.trackingID
    }
}
