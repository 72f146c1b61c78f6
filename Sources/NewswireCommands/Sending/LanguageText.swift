import ArgumentParser
import NewsModel

/// A headline in one language, on the command line: `fr=Bonjour`.
struct LanguageText: Sendable, Hashable {
    let headline: NewsEvent.Headline

    init(parsing text: String) throws {
        guard let sign = text.firstIndex(of: "=") else {
            throw ValidationError("'\(text.prefix(60))' has no '='; write a language and its text, e.g. \"fr=Bonjour\"")
        }
        let (language, headline) = (String(text[..<sign]), String(text[text.index(after: sign)...]))
        guard LanguageTag(language) != nil else {
            throw ValidationError("'\(language.prefix(60))' is not a language code such as fr, fr-CA or zh-Hant")
        }
        guard !headline.allSatisfy(\.isWhitespace) else { throw ValidationError("the text in \(language) is empty") }
        guard headline.utf8.count <= EventLimits.headline else {
            throw ValidationError("the text in \(language) is longer than \(EventLimits.headline) bytes")
        }
        self.headline = NewsEvent.Headline(language: language, text: headline)
    }

    /// - Parameter language: the language of the message.
    static func check(_ texts: [LanguageText], language: String?) throws {
        if let language, LanguageTag(language) == nil {
            throw ValidationError("--language must be a language code such as fr, fr-CA or zh-Hant.")
        }
        guard texts.count <= EventLimits.headlines else {
            throw ValidationError("--headline may be given at most \(EventLimits.headlines) times.")
        }
        var known: Set<LanguageTag> = []
        for text in texts {
            if let tag = LanguageTag(text.headline.language), !known.insert(tag).inserted {
                throw ValidationError("--headline names \(text.headline.language) more than once.")
            }
        }
    }
}
