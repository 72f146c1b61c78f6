import ByteText

/// The kind of a send's body: the value of `ServiceBusNotification-Format`.
public enum NotificationFormat: String, CaseIterable, Sendable, Hashable {
    /// A flat object of strings, which the hub expands through each device's own template.
    case template
    case apple
    /// Google's legacy interface, which Google switched off in 2024. The hub still accepts it.
    case gcm
    case fcmv1
    /// XML of toasts, tiles and badges.
    case windows
    case windowsphone, adm, baidu
    /// Web Push. The hub supports it for direct sends only.
    case browser
    case xiaomi

    /// Reads a header's value without regard to case, because documents write `fcmv1`, `fcmV1` and `FcmV1`.
    /// - Returns: `nil` if the word is not a format.
    public init?(headerValue: some StringProtocol) {
        guard let format = Self.allCases.first(where: { $0.rawValue.equalsIgnoringASCIICase(headerValue) }) else {
            return nil
        }
        self = format
    }

    /// The `Content-Type` of bytes that only the app interprets.
    static let rawContentType = "application/octet-stream"

    /// The `Content-Type` in Microsoft's REST reference. For `baidu` and `xiaomi`, which the reference omits, the one
    /// that Microsoft's own clients send.
    public var contentType: String {
        switch self {
        case .template, .apple, .gcm, .fcmv1, .adm, .browser: "application/json;charset=utf-8"
        case .windows: "application/xml"
        case .windowsphone: "application/xml;charset=utf-8"
        case .baidu: "application/x-www-form-urlencoded"
        case .xiaomi: "application/json"
        }
    }
}
