import ArgumentParser
import NotificationHub

/// What kind of phone `newswire device` is.
enum DevicePlatform: String, ExpressibleByArgument, CaseIterable, Codable, Sendable {
    case apple, fcmv1, windows, browser

    func channel(_ handle: String) -> PushChannel {
        switch self {
        case .apple: .apple(deviceToken: handle)
        case .fcmv1: .fcmv1(registrationToken: handle)
        case .windows: .windows(channelURI: handle)
        // No message is encrypted on the way to a terminal.
        case .browser: .browser(endpoint: handle, p256dh: "BDevice", auth: "device")
        }
    }

    /// An address that nobody else has, in the platform's own shape.
    func newHandle() -> String {
        let digits = Array("0123456789ABCDEF")
        let id = String((0..<64).compactMap { _ in digits.randomElement() })
        return switch self {
        case .apple: id
        case .fcmv1: "fcm-\(id)"
        case .windows: "https://wns.example/?token=\(id)"
        case .browser: "https://push.example/send/\(id)"
        }
    }
}
