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
