import NewsModel

/// A variable that a message may name between its braces.
enum MessageVariable: Sendable, Hashable {
    case field(Field)
    /// One of the event's own values: `data.edition`.
    case data(String)

    enum Field: String, Sendable, CaseIterable {
        case category, headline, summary, id, link, language, urgency, story, version, publishedAt
    }

    /// All variables except `data`.
    static let fixed = Field.allCases.map { MessageVariable.field($0) }

    /// Returns `nil` for an unknown name. A name in `data` has no dot, because Mustache reads a dot as a nested value.
    init?(_ name: some StringProtocol) {
        if let field = Field(rawValue: String(name)) {
            self = .field(field)
        } else if name.hasPrefix("data."), case let field = name.dropFirst(5), !field.isEmpty, !field.contains(".") {
            self = .data(String(field))
        } else {
            return nil
        }
    }

    var name: String {
        switch self {
        case .field(let field): field.rawValue
        case .data(let field): "data.\(field)"
        }
    }

    func value(_ event: NewsEvent, _ category: String) -> String? {
        switch self {
        case .field(.category): category
        case .field(.headline): event.headline
        case .field(.summary): event.summary
        case .field(.id): event.id
        case .field(.link): event.link
        case .field(.language): event.language
        case .field(.urgency): event.urgency.map(String.init)
        case .field(.story): event.story
        case .field(.version): event.version?.text
        case .field(.publishedAt): event.publishedAt?.description
        case .data(let field): event.data.first { $0.name == field }?.value
        }
    }
}
