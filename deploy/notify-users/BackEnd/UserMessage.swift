import Foundation
import NotificationHub

/// A message from one user to another, in the form that each platform shows.
enum UserMessage {
    /// - Parameter pns: the tutorial's name of the platform.
    /// - Returns: `nil` for an unknown platform.
    static func request(_ text: String, on pns: String, to tag: Tag) throws -> SendRequest? {
        switch pns.lowercased() {
        case "apns":
            SendRequest(
                format: .apple, tags: tag.text,
                fields: [HeaderField("apns-push-type", "alert"), HeaderField("apns-priority", "10")],
                body: try json(["aps": ["alert": text]]))
        case "fcm", "gcm", "fcmv1":
            SendRequest(format: .fcmv1, tags: tag.text, body: try json(["message": ["data": ["message": text]]]))
        case "wns":
            SendRequest(
                format: .windows, tags: tag.text, fields: [HeaderField("X-WNS-Type", "wns/toast")],
                body: Array(
                    (#"<toast><visual><binding template="ToastText01"><text id="1">"# + escaped(text)
                        + "</text></binding></visual></toast>").utf8))
        default: nil
        }
    }

    private static func json(_ object: [String: [String: Any]]) throws -> [UInt8] {
        Array(try JSONSerialization.data(withJSONObject: object, options: .sortedKeys))
    }

    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            // XML cannot contain these characters.
            case "\u{0}"..."\u{8}", "\u{B}", "\u{C}", "\u{E}"..."\u{1F}", "\u{FFFE}", "\u{FFFF}": escaped += " "
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
