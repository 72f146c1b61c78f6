import Foundation
import NotificationHub

/// The device as an app describes it: `{"Platform": "apns", "Handle": "…", "Tags": ["World"]}`.
struct DeviceRegistration: Decodable, Sendable {
    var platform: String
    var handle: String
    var tags: [String]?

    private enum CodingKeys: String, CodingKey {
        case platform = "Platform"
        case handle = "Handle"
        case tags = "Tags"
    }

    /// The most tags that an app may choose. A hub accepts 60 for a device, and two are added here.
    static let tagsMax = 58

    /// The channel; `nil` for a platform that hubs no longer reach (mpns), or an invalid handle.
    var channel: PushChannel? {
        guard (1...PushChannel.handleLengthMax).contains(handle.utf8.count) else { return nil }
        return switch platform.lowercased() {
        case "apns": .apple(deviceToken: handle)
        // The tutorial's names for Firebase, whose old interface no longer exists.
        case "fcm", "gcm", "fcmv1": .fcmv1(registrationToken: handle)
        case "wns": .windows(channelURI: handle)
        default: nil
        }
    }

    /// The tags that the app may choose: all except those that name a user or testers.
    ///
    /// - Returns: `nil` if a tag is invalid, or if there are too many.
    var ownTags: [Tag]? {
        let texts = tags ?? []
        guard texts.count <= Self.tagsMax else { return nil }
        var kept: [Tag] = []
        for text in texts where !Self.isReserved(text) {
            guard let tag = try? Tag(text) else { return nil }
            kept.append(tag)
        }
        return kept
    }

    private static func isReserved(_ text: String) -> Bool {
        let text = text.lowercased()
        return text.hasPrefix("$") || text.hasPrefix(Caller.tagPrefix) || text.hasPrefix(UserTags.prefix)
            || text == "staff"
    }
}
