import NotificationHub

/// What a platform says to one push, in telemetry's words.
public enum PushOutcome: String, Sendable, Hashable, CaseIterable {
    case success = "Success"
    /// The handle was already told by the same send.
    case skipped = "Skipped"
    case dropped = "Dropped"
    case badChannel = "BadChannel"
    case expiredChannel = "ExpiredChannel"
    case wrongToken = "WrongToken"
    case channelDisconnected = "ChannelDisconnected"
    case channelThrottled = "ChannelThrottled"
    case throttled = "Throttled"
    case invalidCredentials = "InvalidCredentials"
    case invalidNotificationSize = "InvalidNotificationSize"
    case invalidNotificationFormat = "InvalidNotificationFormat"
    case pnsServerError = "PnsServerError"
    case pnsUnavailable = "PnsUnavailable"
    case pnsUnreachable = "PnsUnreachable"
    case pnsInterfaceError = "PnsInterfaceError"
    case unknownError = "UnknownError"

    /// Whether the hub forgets the registration because of it.
    var endsRegistration: Bool { self == .badChannel || self == .expiredChannel }

    /// The largest payload a platform takes, in bytes.
    static func sizeMax(_ platform: NotificationFormat, headers: [HeaderField]) -> Int {
        switch platform {
        case .apple, .fcmv1, .gcm, .baidu, .xiaomi: 4096
        case .windows: 5 * 1024
        case .windowsphone: 3 * 1024
        case .adm: 6 * 1024
        case .browser: 3993
        case .template: .max
        }
    }
}
