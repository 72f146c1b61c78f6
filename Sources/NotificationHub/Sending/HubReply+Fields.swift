import ByteText

extension HubReply {
    /// The longest tracking id that is kept, in bytes.
    public static let trackingIDLengthMax = 64

    /// Collects what matters from a whole reply. Of fields that come twice the first counts.
    /// - Parameter now: Unix seconds; a `Retry-After` date is taken relative to it.
    public init(status: Int, fields: [HeaderField], body: some Collection<UInt8>, now: Int64) {
        self.init(status: status)
        for field in fields {
            switch field.name.asciiLowercased {
            case "retry-after" where retryAfter == nil: retryAfter = RetryAfter.duration(of: field.value, now: now)
            case "location" where notificationID == nil: notificationID = NotificationID.inLocation(field.value)
            case "trackingid" where trackingID == nil: trackingID = Self.trackingID(field.value)
            default: break
            }
        }
        guard status >= 300 else { return }
        let error = ErrorBody(scanning: body)
        detail = error.detail
        trackingID = trackingID ?? error.trackingID
    }

    private static func trackingID(_ value: String) -> String? {
        let isID =
            (1...trackingIDLengthMax).contains(value.utf8.count)
            && value.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        return isID ? value : nil
    }
}
