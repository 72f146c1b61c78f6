import HubEmulator

/// A language that a phone on the page can ask for: those of the tutorials.
struct PageLanguage: Sendable {
    let code: String
    /// In the language itself.
    let name: String
    /// Of a send.
    let property: String

    static let all = [
        PageLanguage(code: "en", name: "English", property: "News_English"),
        PageLanguage(code: "fr", name: "Français", property: "News_French"),
        PageLanguage(code: "zh", name: "中文", property: "News_Mandarin"),
    ]

    var json: JSONTree { .object([.init("code", .string(code)), .init("name", .string(name))]) }

    /// The template of a phone, asking for this language's text in place of the one for all.
    func translate(_ template: JSONTree) -> JSONTree {
        let body = (template["body"]?.string ?? "")
            // The title is the headline as its author wrote it.
            .replacing("$(title)", with: "").replacing("$(messageParam)", with: "$(\(property))")
        return .object([
            .init("body", .string(body)), .init("headers", template["headers"] ?? .object([])),
        ])
    }
}
