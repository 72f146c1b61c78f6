import NewsModel

/// The text of one language, and its property name in devices' templates.
struct Translation: Sendable, Hashable {
    let property: String
    var text: String
}

/// Finds an event's headline for readers of each language. No reader gets an empty text.
struct Translator: Sendable {
    private struct Language: Sendable {
        let code: String
        let tag: LanguageTag
        let property: String
        /// The replacements in this order: more general languages, then the fallback and its more general ones.
        let substitutes: [LanguageTag]
    }

    private typealias Offer = [(tag: LanguageTag, text: String)]

    private let languages: [Language]
    private let fallback: [LanguageTag]
    /// The template of the text; `nil` if the text is the headline alone.
    private let message: MessageTemplate?
    /// The property names in lower case, as hubs compare them.
    private let properties: Set<String>

    /// - Throws: every problem of the message.
    init(_ settings: Localization) throws(PayloadProblems) {
        let fallback = settings.fallback.compactMap { LanguageTag($0) }
        self.fallback = fallback
        languages = settings.languages.compactMap { language in
            LanguageTag(language.code).map { tag in
                Language(
                    code: language.code, tag: tag, property: settings.propertyName(of: language),
                    substitutes: Self.parents(of: tag) + fallback.flatMap { [$0] + Self.parents(of: $0) })
            }
        }
        message = settings.message == Localization.standardMessage ? nil : try MessageTemplate(settings.message)
        properties = settings.mode == .properties ? Set(languages.map { $0.property.lowercased() }) : []
    }

    private static func parents(of tag: LanguageTag) -> [LanguageTag] {
        Array(sequence(first: tag) { $0.parent }.dropFirst())
    }

    /// True if an event's own value of this name would replace a language's text.
    func isProperty(_ name: String) -> Bool { properties.contains(name.lowercased()) }

    /// The texts of all languages, in the settings' order; never blank.
    func translations(of event: NewsEvent, category: String) -> [Translation] {
        let offer = Self.offer(of: event)
        return languages.map { language in
            let headline = Self.text(for: language, in: offer)?.text ?? event.headline
            guard let message else { return Translation(property: language.property, text: headline) }
            let text = message.render(event, headline: headline, language: language.code, category: category)
            return Translation(property: language.property, text: text)
        }
    }

    /// The languages for which the event has no headline.
    func filled(for event: NewsEvent) -> [String] {
        let offer = Self.offer(of: event)
        return languages.filter { Self.text(for: $0, in: offer)?.isOwn != true }.map(\.code)
    }

    /// The headline for readers of all languages. It is the event's own, unless its language is not in the settings and
    /// another headline is in the fallback's language.
    func headline(for event: NewsEvent) -> String {
        guard !event.headlines.isEmpty, let own = event.language.flatMap({ LanguageTag($0) }) else {
            return event.headline
        }
        if languages.contains(where: { $0.tag.covers(own) || own.covers($0.tag) }) { return event.headline }
        let offer = Self.offer(of: event)
        return fallback.lazy.compactMap { Self.find($0, in: offer) }.first ?? event.headline
    }

    /// The `headlines`, and the main headline if the event names its language.
    private static func offer(of event: NewsEvent) -> Offer {
        var offer: Offer = event.headlines.compactMap { headline in
            LanguageTag(headline.language).map { ($0, headline.text) }
        }
        if let own = event.language.flatMap({ LanguageTag($0) }), !offer.contains(where: { $0.tag == own }) {
            offer.append((own, event.headline))
        }
        return offer
    }

    private static func text(for language: Language, in offer: Offer) -> (text: String, isOwn: Bool)? {
        if let own = find(language.tag, in: offer) { return (own, true) }
        return language.substitutes.lazy.compactMap { find($0, in: offer) }.first.map { ($0, false) }
    }

    /// The text in the language itself, or in a variety of it: British English serves readers of English.
    private static func find(_ tag: LanguageTag, in offer: Offer) -> String? {
        (offer.first { $0.tag == tag } ?? offer.first { tag.covers($0.tag) })?.text
    }
}
