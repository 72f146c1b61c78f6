import NewsModel

/// The readers of some languages, where languages have tags.
struct LanguageReaders: Sendable, Hashable {
    let localization: Localization
    /// One, or all for what everybody must get.
    let languages: [Localization.Language]

    /// The tags of a category's readers.
    func tags(of category: CategoryTable.Category) -> [String] {
        guard localization.mode == .tags else { return [category.tag] }
        return languages.map { localization.tag(of: $0, category: category.tag) }
    }

    /// The tag that all of them have; `nil` where their categories' tags say it all, and for readers of all languages.
    var commonTag: String? {
        guard localization.mode == .expression, languages.count == 1, let language = languages.first else { return nil }
        return localization.tag(of: language, category: "")
    }

    /// What tells their version of a story from those of others.
    var edition: String? { languages.count == 1 ? languages.first?.code : nil }
}
