import NewsModel

/// One router for each language, for settings in which languages have tags.
struct Editions: Sendable {
    let codes: [String]
    private let tags: [LanguageTag]
    private let routers: [Router]
    /// The router to the readers of all languages.
    let everybody: Router
    /// The index of the language for events that name no language.
    private let fallback: Int?

    /// - Parameter router: makes the router for some readers.
    init(
        _ localization: Localization, router: (LanguageReaders) throws(PayloadProblems) -> Router
    ) throws(PayloadProblems) {
        var tags: [LanguageTag] = []
        var codes: [String] = []
        var routers: [Router] = []
        for language in localization.languages {
            guard let tag = LanguageTag(language.code) else { continue }
            tags.append(tag)
            codes.append(language.code)
            routers.append(try router(LanguageReaders(localization: localization, languages: [language])))
        }
        everybody = try router(LanguageReaders(localization: localization, languages: localization.languages))
        fallback = localization.fallback.first.flatMap { LanguageTag($0) }.flatMap { tags.firstIndex(of: $0) }
        (self.tags, self.codes, self.routers) = (tags, codes, routers)
    }

    func route(_ event: NewsEvent) -> Routing {
        guard let language = event.language else {
            guard let fallback else {
                return .unroutable(
                    .init(.unknownLanguage, "the event names no language, and localization.fallback names none for it"))
            }
            return routers[fallback].route(event)
        }
        guard let index = LanguageTag(language).flatMap(index) else {
            return .unroutable(
                .init(.unknownLanguage, "“\(TextCut.excerpt(language))” is none of localization.languages"))
        }
        return routers[index].route(event)
    }

    /// The index of the language or of a more general one: readers of English get British English.
    private func index(of tag: LanguageTag) -> Int? {
        sequence(first: tag) { $0.parent }.lazy.compactMap { tags.firstIndex(of: $0) }.first
    }
}
