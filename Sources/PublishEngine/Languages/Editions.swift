import NewsModel

/// Where each language has readers of its own: one router for each.
struct Editions: Sendable {
    /// The languages' codes.
    let codes: [String]
    private let tags: [LanguageTag]
    private let routers: [Router]
    /// To the readers of all.
    let everybody: Router
    /// The language of an event that names none, as a position.
    private let fallback: Int?

    /// - Parameter router: makes the one for some readers.
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

    /// The language itself, else what is more general: readers of English get British English.
    private func index(of tag: LanguageTag) -> Int? {
        sequence(first: tag) { $0.parent }.lazy.compactMap { tags.firstIndex(of: $0) }.first
    }
}
