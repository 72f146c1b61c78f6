import HubEmulator
import NotificationHub

/// A test story written on the page.
public struct ComposedStory: Sendable, Hashable {
    public static let headlineLengthMax = 500

    /// The event's id, which differs for every send.
    public var id: String
    /// The story's id, which its corrections share.
    public var story: String
    public var category: String
    public var headline: String
    /// The code of the headline's language; `nil` if the page does not send it.
    public var language: String?
    /// The headline in other languages, by their codes.
    public var translations: [Translation]

    public struct Translation: Sendable, Hashable {
        /// The language's code, one of the page's.
        public var language: String
        public var text: String
    }

    /// Reads the page's request; `nil` if the headline is missing or the category is not a valid tag.
    init?(json: JSONTree, id: String) {
        guard let category = json["category"]?.string, (try? Tag(category))?.kind == .ordinary,
            let headline = json["headline"]?.string, !headline.isEmpty, headline.count <= Self.headlineLengthMax
        else { return nil }
        self.id = id
        let given = json["story"]?.string ?? ""
        story = given.isEmpty || given.utf8.count > 64 ? id : given
        self.category = category
        self.headline = headline
        language = PageLanguage.all.first { $0.code == json["language"]?.string }?.code
        translations = PageLanguage.all.compactMap { language in
            guard let text = json["headlines"]?[language.code]?.string, !text.isEmpty,
                text.count <= Self.headlineLengthMax
            else { return nil }
            return Translation(language: language.code, text: text)
        }
    }

    /// The template send that the publisher would make for the story.
    func request(hub: HubName, host: String, token: String) -> HubHTTPRequest {
        let properties: [JSONTree.Member] =
            [
                .init("messageParam", .string("Breaking \(category) News : \(headline)")),
                .init("title", .string(headline)),
                .init("category", .string(category)), .init("id", .string(id)), .init("story", .string(story)),
                .init("tag", .string(CollapseID.name(of: story))),
                .init("shortTag", .string(CollapseID.shortName(of: story))),
            ]
            + PageLanguage.all.map { language in
                // A missing text would produce an empty notification.
                let text = translations.first { $0.language == language.code }?.text ?? headline
                return .init(language.property, .string(text))
            }
        return HubHTTPRequest(
            method: "POST", target: "/\(hub)/messages?api-version=2020-06",
            headers: [
                "Host": host, "Authorization": token, "ServiceBusNotification-Format": "template",
                // The expression reaches each device once, including those that have only one template with any name.
                "ServiceBusNotification-Tags": "\(category) && !breakingNewsQuiet",
                "Content-Type": "application/json;charset=utf-8",
                "apns-push-type": "alert", "apns-collapse-id": CollapseID.name(of: story),
            ], body: JSONTree.object(properties).bytes)
    }
}
