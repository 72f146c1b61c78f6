/// The readers of some languages, for settings in which languages have tags.
struct LanguageReaders: Sendable, Hashable {
    let localization: Localization
    /// One language, or all for an event that everybody must get.
    let languages: [Localization.Language]

    func tags(of category: CategoryTable.Category) -> [String] {
        guard localization.mode == .tags else { return [category.tag] }
        return languages.map { localization.tag(of: $0, category: category.tag) }
    }

    /// The tag that all these readers have; `nil` if their categories' tags suffice, and for readers of all languages.
    var commonTag: String? {
        guard localization.mode == .expression, languages.count == 1, let language = languages.first else { return nil }
        return localization.tag(of: language, category: "")
    }

    /// The code of the only language, which keeps its version of a story apart; `nil` for all languages.
    var edition: String? { languages.count == 1 ? languages.first?.code : nil }
}
