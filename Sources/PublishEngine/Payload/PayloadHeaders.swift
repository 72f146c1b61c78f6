import NewsModel
import NotificationHub

/// The headers a platform's service reads, which the hub passes on.
enum PayloadHeaders {
    static func fields(of content: PayloadContent, on platform: Platform, expiry: Instant?) -> [HeaderField] {
        let headers = platform.facts.headers
        var fields = headers.constant
        if let type = headers.type {
            fields.reserveCapacity(fields.count + 6)
            // In a template send, the device's quiet template decides if the notification is shown.
            fields.append(HeaderField(type.name, content.urgency == .background ? type.background : type.shown))
        }
        if let priority = headers.priority {
            fields.append(
                HeaderField(priority.name, content.urgency == .breaking ? priority.breaking : priority.other))
        }
        if let collapse = headers.collapse, !content.isRaw(on: platform) {
            let id = collapse.lengthMax < 64 ? CollapseID.shortName(of: content.orderKey) : content.collapseID
            fields.append(HeaderField(collapse.name, id))
        }
        for header in headers.expiry {
            if let value = self.value(of: header.form, expiry, timeToLive: content.timeToLive) {
                fields.append(HeaderField(header.name, value))
            }
        }
        if let silence = headers.silence, content.urgency == .quiet { fields.append(silence) }
        return fields
    }

    /// - Returns: `nil` for a point in time without an expiry.
    private static func value(
        of form: PlatformFacts.Headers.ExpiryForm, _ expiry: Instant?, timeToLive: Int
    ) -> String? {
        // 0 would mean to try once.
        let seconds = expiry.map { max($0.nanoseconds / 1_000_000_000, 1) }
        return switch form {
        case .unixSeconds: seconds.map { String($0) }
        case .dateTime: seconds.map { Instant(milliseconds: $0 * 1_000).description }
        case .secondsToLive: String(timeToLive)
        }
    }
}
