public import NotificationHub

/// The registration that a device wants at the hub.
public struct Subscription: Sendable, Hashable, Codable {
    public let channel: PushChannel
    /// Sorted and unique; empty means no notifications at all.
    public let tags: [Tag]
    /// The templates for template sends; each gives one notification.
    public let templates: [PushTemplate]
    /// For sends to a user instead of a category; only with installations.
    public let userID: String?

    /// - Parameter templates: `nil` for the default of the platform; see `PushTemplate.breakingNews(for:)`.
    public init(
        channel: PushChannel, tags: some Sequence<Tag>, templates: [PushTemplate]? = nil, userID: String? = nil
    ) {
        self.channel = channel
        self.tags = Set(tags).sorted()
        self.templates = templates ?? [.breakingNews(for: channel)]
        self.userID = userID
    }

    public init(channel: PushChannel, categories: [NewsCategory], templates: [PushTemplate]? = nil) {
        self.init(channel: channel, tags: categories.map(\.tag), templates: templates)
    }
}

extension PushTemplate {
    /// Shows `messageParam`, the text that newsrooms send, and gives the app the data to open the story. A newer
    /// version of a story replaces the older one on the screen; for Apple devices the sender's headers do that.
    public static func breakingNews(for channel: PushChannel) -> PushTemplate {
        let name = "breakingNews"
        let data = #""category":"$(category)","id":"$(id)","story":"$(story)","link":"$(link)""#
        switch channel {
        case .apple:
            return PushTemplate(name: name, body: #"{"aps":{"alert":"$(messageParam)","sound":"default"},\#(data)}"#)
        case .fcmv1:
            return PushTemplate(
                name: name, body: #"{"message":{"notification":{"body":"$(messageParam)"},"data":{\#(data)}}}"#)
        case .windows:
            let texts = #"<text id="1">$(category)</text><text id="2">$(messageParam)</text>"#
            let visual = #"<visual><binding template="ToastText02">\#(texts)</binding></visual>"#
            return PushTemplate(
                name: name, body: #"<toast launch="$(link)">\#(visual)</toast>"#,
                headers: [Header("X-WNS-Type", "wns/toast"), Header("X-WNS-Tag", "$(story,16)")])
        case .browser:
            return PushTemplate(name: name, body: #"{"message":"$(messageParam)","tag":"$(story)",\#(data)}"#)
        }
    }
}
