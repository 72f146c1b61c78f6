import NotificationHub

/// A language of the tutorials, which a phone on the page can request.
struct PageLanguage: Sendable {
    let code: String
    /// The language's name in the language itself.
    let name: String
    /// The property of a send that holds the text.
    let property: String

    static let all = [
        PageLanguage(code: "en", name: "English", property: "News_English"),
        PageLanguage(code: "fr", name: "Français", property: "News_French"),
        PageLanguage(code: "zh", name: "中文", property: "News_Mandarin"),
    ]

    var json: JSONTree { ["code": .string(code), "name": .string(name)] }

    /// A phone's template with this language's text instead of the general one. The title is removed, because it is the
    /// headline in the author's language.
    func translate(_ template: PushTemplate) -> PushTemplate {
        var translated = template
        translated.body = template.body.replacing("$(title)", with: "")
            .replacing("$(messageParam)", with: "$(\(property))")
        return translated
    }
}
