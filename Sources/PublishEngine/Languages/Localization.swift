/// The languages that readers choose from, and the way in which a send reaches the readers of each.
public struct Localization: Sendable, Hashable {
    public var mode: Mode
    /// The property of a template send that holds the text in one language; `{language}` stands for the language's name.
    public var property: String
    /// The tag, by mode. In `tags`: one category's readers in one language. In `expression`: all readers in one
    /// language. `{language}` stands for the language's code, `{category}` for the tag of a category or an
    /// interest.
    public var tag: String
    /// The text in one language, as a `MessageTemplate` with that language's headline and code.
    public var message: String
    /// The languages in the order of the settings; at most `languagesMax`.
    public var languages: [Language]
    /// Codes of `languages` that replace a missing language, tried in this order.
    public var fallback: [String]

    public enum Mode: String, CaseIterable, Sendable {
        /// One send carries the text of every language, and the device's template picks one.
        case properties
        /// An event has one language, and goes to the tag of its category and language.
        case tags
        /// An event goes to its category's tag and its language's: `World && language_fr`.
        case expression
    }

    public struct Language: Sendable, Hashable {
        /// BCP 47, e.g. `fr`.
        public var code: String
        /// The name in the devices' templates, e.g. `French`.
        public var name: String

        public init(code: String, name: String) {
            self.code = code
            self.name = name
        }
    }

    /// This many texts of the greatest length fill half of the hub's 64 KiB.
    public static let languagesMax = 20
    public static let standardProperty = "News_{language}"
    public static let standardMessage = "{{headline}}"

    /// - Parameter tag: `nil` for the mode's standard tag.
    public init(
        mode: Mode = .properties, property: String = standardProperty, tag: String? = nil,
        message: String = standardMessage, languages: [Language], fallback: [String] = []
    ) {
        self.mode = mode
        self.property = property
        self.tag = tag ?? Self.standardTag(mode)
        self.message = message
        self.languages = languages
        self.fallback = fallback
    }

    public static func standardTag(_ mode: Mode) -> String {
        mode == .expression ? "language_{language}" : "{category}_{language}"
    }

    static let languageMark = "{language}"
    static let categoryMark = "{category}"

    func propertyName(of language: Language) -> String { property.replacing(Self.languageMark, with: language.name) }

    func tag(of language: Language, category: String) -> String {
        tag.replacing(Self.languageMark, with: language.code).replacing(Self.categoryMark, with: category)
    }
}

/// The readers of some languages, for settings in which languages have tags.
struct LanguageReaders: Sendable, Hashable {
    let localization: Localization
    /// One language, or all for an event that everybody must get.
    let languages: [Localization.Language]

    /// The tags of these readers of a category or an interest.
    func tags(of tag: String) -> [String] {
        guard localization.mode == .tags else { return [tag] }
        return languages.map { localization.tag(of: $0, category: tag) }
    }

    /// The tag that all these readers have; `nil` if their categories' tags suffice, and for readers of all languages.
    var commonTag: String? {
        guard localization.mode == .expression, languages.count == 1, let language = languages.first else { return nil }
        return localization.tag(of: language, category: "")
    }

    /// The code of the only language, which keeps its version of a story apart; `nil` for all languages.
    var edition: String? { languages.count == 1 ? languages.first?.code : nil }
}
