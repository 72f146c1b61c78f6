public import NotificationHub

/// What a device wants to be sent: what the hub should have registered for it.
public struct Subscription: Sendable, Hashable, Codable {
    public let channel: PushChannel
    /// Sorted, each once; empty for no notifications at all.
    public let tags: [Tag]
    /// What to make of template sends, one notification for each.
    public let templates: [PushTemplate]
    /// For sends to a user instead of a category; installations only.
    public let userID: String?

    /// - Parameter templates: `nil` for the platform's own one; see `PushTemplate.breakingNews(for:)`.
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
    /// Shows `messageParam`, the text that newsrooms send, and hands the app what it needs to open the story. A newer
    /// version of a story takes the place of the older one on the screen; on Apple's devices the sender sees to that.
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
