/// The body of an installation: one device, its tags and its templates in one JSON object. The hub derives a native
/// registration from it, and one registration for each template.
public struct InstallationBody: Sendable, Hashable {
    public static let contentType = "application/json"

    public var id: String
    public var channel: PushChannel
    public var tags: [Tag]
    public var templates: [PushTemplate]
    /// The user's id. Sends reach the user with the tag `$UserId:{…}`.
    public var userID: String?

    public init(
        id: String, channel: PushChannel, tags: [Tag], templates: [PushTemplate] = [], userID: String? = nil
    ) {
        self.id = id
        self.channel = channel
        self.tags = tags
        self.templates = templates
        self.userID = userID
    }

    public var bytes: [UInt8] { json.bytes }

    package var json: JSONTree {
        [
            "installationId": .string(id), "userId": userID.map { .string($0) },
            "platform": .string(channel.platform.facts.installation), "pushChannel": channel.json,
            "tags": .strings(tags.map(\.text)), "templates": .object(templates.map { .init($0.name, $0.json) }),
        ]
    }
}

extension PushChannel {
    fileprivate var json: JSONTree {
        guard case .browser(let endpoint, let p256dh, let auth) = self else { return .string(handle) }
        return ["endpoint": .string(endpoint), "p256dh": .string(p256dh), "auth": .string(auth)]
    }
}

extension PushTemplate {
    fileprivate var json: JSONTree {
        [
            "body": .string(body),
            "headers": headers.isEmpty ? nil : .headers(headers),
            "expiry": expiry.map { .string($0) },
        ]
    }
}
