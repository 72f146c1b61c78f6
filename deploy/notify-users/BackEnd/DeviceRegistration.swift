import Foundation
import NotificationHub

/// What an app says about its device: `{"Platform": "apns", "Handle": "…", "Tags": ["World"]}`.
struct DeviceRegistration: Decodable, Sendable {
    var platform: String
    var handle: String
    var tags: [String]?

    private enum CodingKeys: String, CodingKey {
        case platform = "Platform"
        case handle = "Handle"
        case tags = "Tags"
    }

    /// A hub takes 60 tags for a device; two are ours.
    static let tagsMax = 58

    /// `nil` for a platform that hubs no longer reach (mpns), or a handle that is none.
    var channel: PushChannel? {
        guard (1...PushChannel.handleLengthMax).contains(handle.utf8.count) else { return nil }
        return switch platform.lowercased() {
        case "apns": .apple(deviceToken: handle)
        // The tutorial's words for Firebase. Its old interface is gone.
        case "fcm", "gcm", "fcmv1": .fcmv1(registrationToken: handle)
        case "wns": .windows(channelURI: handle)
        default: nil
        }
    }

    /// The tags that the app may choose for itself: anything but those that name a user or testers.
    ///
    /// - Returns: `nil` if one of them is no tag, or there are too many.
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
