import ByteText

/// The hub's reply to one send.
public struct HubReply: Sendable, Hashable {
    /// The HTTP status of the reply.
    public var status: Int
    /// The wait that the hub requested, 0…86 400 s; `nil` without a request. RFC 9110 §10.2.3.
    public var retryAfter: Duration?
    /// The last segment of `Location`. Only the Standard tier returns one.
    public var notificationID: String?
    /// The service's own id of this request, which its support asks for.
    public var trackingID: String?
    /// The `<Detail>` of the error body, trimmed and bounded.
    public var detail: String?
    /// The body of the reply to a question; empty for a send.
    public var body: [UInt8] = []

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

extension HubReply {
    /// The service's message as part of a sentence, without the final full stops and the suffix in `detail`.
    public var message: String? {
        guard var message = ErrorBody(code: status, detail: detail).message else { return nil }
        // The service appends its own full stop to the message's.
        while message.last == "." { message.removeLast() }
        return message.isEmpty ? nil : message
    }

    /// The message with the tracking id, which the service's support asks for.
    public var explanation: String? {
        guard let message else { return nil }
        return trackingID.map { "\(message) (tracking id \($0))" } ?? message
    }

    /// The longest tracking id that is kept, in bytes.
    public static let trackingIDLengthMax = 64

    /// Collects the relevant parts of a complete reply. If a field is repeated, the first one counts.
    /// - Parameter now: Unix seconds, to convert a `Retry-After` date.
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

/// The `Retry-After` header as a wait. RFC 9110 §10.2.3.
public enum RetryAfter {
    /// The longest wait. Longer ones are shortened to one day.
    public static let max: Duration = .seconds(86_400)

    /// The wait, 0 s…`max`.
    /// - Parameter now: Unix seconds. A date in the past means no wait.
    /// - Returns: `nil` if the value is neither a number of seconds nor a date.
    public static func duration(of value: some StringProtocol, now: Int64) -> Duration? {
        RetryAfterHeader.seconds(of: value, now: now).map { min(.seconds($0), max) }
    }
}
