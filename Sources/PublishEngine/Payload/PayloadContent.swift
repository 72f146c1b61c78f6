import NewsModel
import NotificationHub

/// The content of one payload, before it is written in a platform's format. Parts may be taken out to make it fit.
struct PayloadContent {
    var message: String
    /// The headline, without the message's text.
    var title: String?
    var category: String
    /// The name of the first category, by which Apple devices group notifications.
    var thread: String
    var id: String?
    var link: String?
    var image: String?
    var summary: String?
    var story: String?
    var data: ArraySlice<NewsEvent.DataField>
    /// Number of the first values in `data` that are the operator's properties. They may insert whole texts.
    var propertyCount = 0
    /// The key of the notifications that this one replaces.
    let orderKey: String
    let urgency: UrgencyClass
    /// Seconds a platform keeps it for a phone that is off; at least 1.
    let timeToLive: Int
    /// The message in the languages that readers choose from; used only for templates.
    var translations: [Translation] = []
    var templateFields: TemplateFields

    /// No sound is made, and the screen stays dark.
    var isQuiet: Bool { urgency == .quiet || urgency == .background }

    /// The body is bytes for the app, which the platform does not read.
    func isRaw(on platform: Platform) -> Bool { urgency == .background && platform.facts.background == .raw }

    var collapseID: String { CollapseID.name(of: orderKey) }

    /// Bytes of all texts before escaping. Formats never shorten them, so a sum above the limit is too large.
    var rawLength: Int {
        var length = message.utf8.count + category.utf8.count
        length += title?.utf8.count ?? 0
        length += id?.utf8.count ?? 0
        length += link?.utf8.count ?? 0
        length += image?.utf8.count ?? 0
        length += summary?.utf8.count ?? 0
        length += story?.utf8.count ?? 0
        length += templateFields.language?.utf8.count ?? 0
        length += templateFields.version?.utf8.count ?? 0
        for field in data { length += field.name.utf8.count + field.value.utf8.count }
        for translation in translations { length += translation.property.utf8.count + translation.text.utf8.count }
        return length
    }

    /// True for names that an event's own values may not have. Our names mean the same on every platform, and FCM
    /// refuses a message with its reserved names. Hubs compare the names of a template's properties without case, and the last
    /// of several counts.
    static func isReserved(_ name: String, on platform: Platform) -> Bool {
        if platform == .template { return templateNames.contains(name.lowercased()) }
        return switch name {
        case "", "messageParam", "message", "title", "category", "id", "link", "image", "summary", "story", "tag",
            "quiet", "aps":
            true
        case "from", "message_type", "collapse_key", "notification": platform.facts.reservesGoogleNames
        default: platform.facts.reservesGoogleNames && (name.hasPrefix("google") || name.hasPrefix("gcm"))
        }
    }

    private static let templateNames: Set<String> = [
        "", "messageparam", "message", "title", "category", "id", "link", "image", "summary", "story", "tag", "quiet",
        "aps",
        "shorttag", "priority", "ttl", "urgency", "language", "version", "publishedat",
    ]
}

extension PayloadContent {
    /// A flat object of strings, with `messageParam` as in the tutorials' templates.
    func template(_ json: inout JSONWriter) {
        json.field("messageParam", message)
        for translation in translations { json.field(named: translation.property, translation.text) }
        // For templates of platforms that replace by a tag; Apple's devices get it in a header. Windows accepts 16 characters.
        json.field("tag", collapseID)
        json.field("shortTag", CollapseID.shortName(of: orderKey))
        json.field("ttl", String(timeToLive))
        json.field("priority", urgency == .breaking ? "HIGH" : "NORMAL")
        json.field("urgency", templateFields.urgency.map { String($0) })
        json.field("language", templateFields.language)
        json.field("version", templateFields.version)
        json.field("publishedAt", templateFields.publishedAt)
        fields(&json)
    }

    /// The members that every JSON payload has besides its message, written into the open object: strings only, as
    /// templates and FCM ask.
    func fields(_ json: inout JSONWriter) {
        json.field("title", title)
        json.field("category", category)
        json.field("id", id)
        json.field("link", link)
        json.field("story", story)
        json.field("image", image)
        json.field("summary", summary)
        // For apps that show notifications in their own code.
        if isQuiet { json.field("quiet", "true") }
        for field in data { json.field(named: field.name, field.value) }
    }
}

/// The fields of an event that only template payloads carry, so that a device's template can insert any of them.
struct TemplateFields: Sendable {
    var urgency: Int?
    var language: String?
    var version: String?
    var publishedAt: Instant?

    init() {}

    init(_ event: borrowing NewsEvent) {
        urgency = event.urgency
        language = event.language
        version = event.version?.text
        publishedAt = event.publishedAt
    }

    /// Removes the fields that properties of these names replace.
    mutating func remove(_ names: Set<String>) {
        if names.contains("urgency") { urgency = nil }
        if names.contains("language") { language = nil }
        if names.contains("version") { version = nil }
        if names.contains("publishedat") { publishedAt = nil }
    }
}
