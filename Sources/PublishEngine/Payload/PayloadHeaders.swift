import NewsModel
import NotificationHub

/// The headers a platform's service reads, which the hub passes on.
enum PayloadHeaders {
    static func fields(of content: PayloadContent, on platform: Platform, expiry: Instant?) -> [HeaderField] {
        switch platform {
        // With a template send the headers reach the Apple devices among its readers.
        case .apple, .template: apple(content, expiry: expiry)
        case .windows: windows(content)
        // Class 2 is a toast sent at once.
        case .windowsphone:
            [HeaderField("X-WindowsPhone-Target", "toast"), HeaderField("X-NotificationClass", "2")]
        case .baidu: [HeaderField("X-Baidu-Message-Type", "1")]
        case .fcmv1, .gcm, .adm, .browser, .xiaomi: []
        }
    }

    private static func windows(_ content: PayloadContent) -> [HeaderField] {
        if content.urgency == .background {
            return [HeaderField("X-WNS-Type", "wns/raw"), HeaderField("X-WNS-TTL", String(content.timeToLive))]
        }
        let fields = [
            HeaderField("X-WNS-Type", "wns/toast"),
            HeaderField("X-WNS-Tag", PayloadCollapse.shortID(of: content.orderKey)),
            HeaderField("X-WNS-TTL", String(content.timeToLive)),
        ]
        // The notification goes to the action center at once, without a banner.
        return content.urgency == .quiet ? fields + [HeaderField("X-WNS-SuppressPopup", "true")] : fields
    }

    /// Sets both expiries: the hub documents its own header, current APNs reads `apns-expiration`. Without an expiry,
    /// APNs tries once, and a phone that is off never gets the alert.
    private static func apple(_ content: PayloadContent, expiry: Instant?) -> [HeaderField] {
        // The device's quiet template decides if a template send is shown.
        let type = HeaderField("apns-push-type", content.urgency == .background ? "background" : "alert")
        let priority = HeaderField("apns-priority", content.urgency == .breaking ? "10" : "5")
        let collapse = HeaderField("apns-collapse-id", content.collapseID)
        guard let expiry else { return [type, priority, collapse] }
        // 0 would mean to try once.
        let seconds = max(expiry.nanoseconds / 1_000_000_000, 1)
        let time = Instant(milliseconds: seconds * 1_000).description
        return [
            type, priority, collapse, HeaderField("apns-expiration", String(seconds)),
            HeaderField("ServiceBusNotification-Apns-Expiry", time),
        ]
    }
}
