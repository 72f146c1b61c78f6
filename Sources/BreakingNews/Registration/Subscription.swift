public import NotificationHub

/// The registration that a device wants at the hub.
public struct Subscription: Sendable, Hashable, Codable {
    public let channel: PushChannel
    /// The tags, sorted and unique; empty means no notifications at all.
    public let tags: [Tag]
    /// The templates for template sends. Each template whose tags match produces one notification.
    public let templates: [PushTemplate]
    /// The user's id, for sends to a user instead of a category. Only installations have it.
    public let userID: String?

    /// The most tags that hubs take in one registration.
    public static let tagsMax = 60

    /// - Parameters:
    ///   - templates: `nil` for both templates of the platform; see `PushTemplate.standard(for:language:)`.
    ///   - language: the language of these two; `nil` for the text that a newsroom sends to readers of all languages.
    public init(
        channel: PushChannel, tags: some Sequence<Tag>, templates: [PushTemplate]? = nil, userID: String? = nil,
        language: NewsLanguage? = nil
    ) {
        self.channel = channel
        self.tags = Set(tags).sorted()
        self.templates = templates ?? PushTemplate.standard(for: channel, language: language)
        self.userID = userID
    }

    /// - Parameter interests: what the reader follows beside categories.
    public init(
        channel: PushChannel, categories: [NewsCategory], interests: [NewsInterest] = [],
        templates: [PushTemplate]? = nil, language: NewsLanguage? = nil
    ) {
        self.init(
            channel: channel, tags: categories.map(\.tag) + interests.map(\.tag), templates: templates,
            language: language)
    }
}

extension PushTemplate {
    /// Both news templates. A newsroom that knows them names one in each send: `breakingNewsQuiet` in readers' quiet
    /// hours, else `breakingNews`. For other newsrooms, register only `breakingNews` (`templates:` of `Subscription`).
    /// Their sends would reach a device twice, and only platforms that replace by a name show such a pair once.
    ///
    /// The names are the same in every language, so that a change of language leaves one registration of each.
    public static func standard(for channel: PushChannel, language: NewsLanguage? = nil) -> [PushTemplate] {
        [breakingNews(for: channel, language: language), breakingNewsQuiet(for: channel, language: language)]
    }

    /// Shows `messageParam`, the text that newsrooms send, or the given language's text, and passes the app the story's
    /// data. A newer version replaces the older one on the screen, and a phone that was off gets nothing after the time to
    /// live; on Apple devices the sender's headers do both.
    public static func breakingNews(for channel: PushChannel, language: NewsLanguage? = nil) -> PushTemplate {
        news(for: channel, language, isQuiet: false)
    }

    /// The news template without a sound. The notification waits in the list. On Android the channel decides about
    /// sound: the app creates a channel of low importance with this template's name.
    public static func breakingNewsQuiet(for channel: PushChannel, language: NewsLanguage? = nil) -> PushTemplate {
        news(for: channel, language, isQuiet: true)
    }

    private static func news(for channel: PushChannel, _ language: NewsLanguage?, isQuiet: Bool) -> PushTemplate {
        let message = language?.property ?? "messageParam"
        let name = isQuiet ? "breakingNewsQuiet" : "breakingNews"
        let mark = isQuiet ? #","quiet":"true""# : ""
        // Defaults such as `:{86400}` are for senders that send only the message.
        let seconds = 86_400
        let data = #""category":"$(category)","id":"$(id)","story":"$(story)","link":"$(link)"\#(mark)"#
        switch channel {
        case .apple:
            let sound = isQuiet ? #""interruption-level":"passive""# : #""sound":"default""#
            return PushTemplate(name: name, body: #"{"aps":{"alert":"$(\#(message))",\#(sound)},\#(data)}"#)
        case .fcmv1:
            let quiet = isQuiet ? #","channel_id":"\#(name)","notification_priority":"PRIORITY_LOW""# : ""
            let priority = isQuiet ? "NORMAL" : "$(priority:{HIGH})"
            let lifetime = #""ttl":"{$(ttl:{\#(seconds)}) + 's'}","priority":"\#(priority)""#
            let android = #"{\#(lifetime),"notification":{"tag":"$(tag)"\#(quiet)}}"#
            return PushTemplate(
                name: name,
                body:
                    #"{"message":{"notification":{"body":"$(\#(message))"},"android":\#(android),"data":{\#(data)}}}"#)
        case .windows:
            let texts = #"<text id="1">$(category)</text><text id="2">$(\#(message))</text>"#
            let visual = #"<visual><binding template="ToastText02">\#(texts)</binding></visual>"#
            let audio = isQuiet ? #"<audio silent="true"/>"# : ""
            return PushTemplate(
                name: name, body: #"<toast launch="$(link)">\#(visual)\#(audio)</toast>"#,
                headers: [
                    HeaderField("X-WNS-Type", "wns/toast"), HeaderField("X-WNS-Tag", "$(shortTag:{news})"),
                    HeaderField("X-WNS-TTL", "$(ttl:{\(seconds)})"),
                ] + (isQuiet ? [HeaderField("X-WNS-SuppressPopup", "true")] : []))
        case .browser:
            return PushTemplate(name: name, body: #"{"message":"$(\#(message))","tag":"$(tag)",\#(data)}"#)
        }
    }
}
