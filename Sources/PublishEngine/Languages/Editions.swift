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
        if let index = index(of: event) { return routers[index].route(event) }
        let reason =
            event.language.map { "“\(TextCut.excerpt($0))” is none of localization.languages" }
            ?? "the event names no language, and localization.fallback names none for it"
        return .unroutable(.init(.unknownLanguage, reason))
    }

    /// The code of the event's language; `nil` if no reader has it.
    func code(of event: NewsEvent) -> String? { index(of: event).map { codes[$0] } }

    private func index(of event: NewsEvent) -> Int? {
        guard let language = event.language else { return fallback }
        return LanguageTag(language).flatMap(index)
    }

    /// The index of the language or of a more general one: readers of English get British English.
    private func index(of tag: LanguageTag) -> Int? {
        sequence(first: tag) { $0.parent }.lazy.compactMap { tags.firstIndex(of: $0) }.first
    }
}
