import NotificationHub

/// Templates that were compiled before: an app registers the same few from all its devices.
struct TemplateCache: Sendable {
    /// Templates remembered at most; then it starts over.
    private static let countMax = 1000

    private struct Key: Hashable, Sendable {
        var source: String
        var name: String?
        var headers: [HeaderField]
        var expiry: String?
        var priority: String?
        var platform: NotificationFormat
    }

    private var templates: [Key: Template] = [:]

    mutating func template(
        _ source: String, name: String?, headers: [HeaderField], expiry: String?, priority: String? = nil,
        platform: NotificationFormat
    ) throws(TemplateProblem) -> Template {
        let key = Key(
            source: source, name: name, headers: headers, expiry: expiry, priority: priority, platform: platform)
        if let known = templates[key] { return known }
        let template = try Template(
            source, name: name, headers: headers, expiry: expiry, priority: priority, platform: platform)
        if templates.count >= Self.countMax { templates = [:] }
        templates[key] = template
        return template
    }
}
