import NewsModel

/// A variable that a message or a member of a payload may name between its braces.
enum MessageVariable: Sendable, Hashable {
    case field(Field)
    /// One of the event's own values: `data.edition`.
    case data(String)
    /// A value that only payloads may name.
    case payload(PayloadField)

    enum Field: String, Sendable, CaseIterable {
        case category, headline, summary, id, link, language, urgency, story, version, publishedAt
    }

    enum PayloadField: String, Sendable, CaseIterable {
        case message, image, categories, categorySlug, collapseId, ttl, expiresAt, urgencyClass
        /// The collapse id of an event with a story. Newswire's own members use it.
        case collapseKey
    }

    /// All variables of messages except `data`.
    static let fixed = Field.allCases.map { MessageVariable.field($0) }
    /// All variables of payloads except `data`.
    static let inPayloads = fixed + PayloadField.allCases.filter { $0 != .collapseKey }.map { .payload($0) }

    /// Returns `nil` for an unknown name. A name in `data` has no dot, because Mustache reads a dot as a nested value.
    init?(_ name: some StringProtocol, inPayload: Bool = false) {
        if let field = Field(rawValue: String(name)) {
            self = .field(field)
        } else if inPayload, let field = PayloadField(rawValue: String(name)) {
            self = .payload(field)
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
        case .payload(let field): field.rawValue
        }
    }

    /// True if an event may have no value for it.
    var mayBeAbsent: Bool {
        switch self {
        case .field(.headline), .field(.id), .field(.category), .payload(.message), .payload(.categories),
            .payload(.categorySlug), .payload(.collapseId), .payload(.ttl), .payload(.urgencyClass):
            false
        case .field, .data, .payload: true
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
        case .payload: nil
        }
    }
}
