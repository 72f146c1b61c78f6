import NewsModel

/// A variable that a message may name between its braces.
enum MessageVariable: Sendable, Hashable {
    case category, headline, summary, id, link, language, urgency, story, version, publishedAt
    /// One of the event's own values: `data.edition`.
    case data(String)

    /// All variables except `data`.
    static let fixed: [MessageVariable] = [
        .category, .headline, .summary, .id, .link, .language, .urgency, .story, .version, .publishedAt,
    ]

    /// Returns `nil` for an unknown name. A name in `data` has no dot, because Mustache reads a dot as a nested value.
    init?(_ name: some StringProtocol) {
        if let known = Self.fixed.first(where: { $0.name == name }) {
            self = known
        } else if name.hasPrefix("data."), case let field = name.dropFirst(5), !field.isEmpty, !field.contains(".") {
            self = .data(String(field))
        } else {
            return nil
        }
    }

    var name: String {
        switch self {
        case .category: "category"
        case .headline: "headline"
        case .summary: "summary"
        case .id: "id"
        case .link: "link"
        case .language: "language"
        case .urgency: "urgency"
        case .story: "story"
        case .version: "version"
        case .publishedAt: "publishedAt"
        case .data(let field): "data.\(field)"
        }
    }

    func value(_ event: NewsEvent, _ category: String) -> String? {
        switch self {
        case .category: category
        case .headline: event.headline
        case .summary: event.summary
        case .id: event.id
        case .link: event.link
        case .language: event.language
        case .urgency: event.urgency.map(String.init)
        case .story: event.story
        case .version: event.version?.text
        case .publishedAt: event.publishedAt?.description
        case .data(let field): event.data.first { $0.name == field }?.value
        }
    }
}
