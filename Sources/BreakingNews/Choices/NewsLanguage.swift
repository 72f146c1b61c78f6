import ByteText
import Foundation

/// A language in which a newsroom publishes its news.
public struct NewsLanguage: Sendable, Hashable, Codable, Identifiable {
    /// The BCP 47 tag, e.g. `fr`.
    public let code: String
    /// The name that senders use for the language, e.g. `French`.
    public let name: String
    /// The property of a send that holds the text in this language, e.g. `News_French`.
    public let property: String

    public var id: String { code }

    /// - Parameters:
    ///   - code: a BCP 47 tag.
    ///   - pattern: the newsroom's `localization.property`; `{language}` stands for the name.
    /// - Throws: if the code or the name is empty, or if templates could not refer to the property. Its name must be 1
    ///   to 120 letters, digits and underscores.
    public init(code: String, name: String, pattern: String = "News_{language}") throws(NewsLanguageProblem) {
        guard !code.isEmpty else { throw .noCode }
        guard !name.isEmpty else { throw .noName(code: code) }
        let property = pattern.replacingOccurrences(of: "{language}", with: name)
        let isName = property.utf8.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || $0 == UInt8(ascii: "_") }
        guard (1...120).contains(property.utf8.count), isName else { throw .unfit(property: property) }
        self.code = code
        self.name = name
        self.property = property
    }

    /// English, French and Mandarin.
    public static let standard: [NewsLanguage] = [("en", "English"), ("fr", "French"), ("zh", "Mandarin")].compactMap {
        try? NewsLanguage(code: $0.0, name: $0.1)
    }

    /// The offered language that serves a reader best. The reader's languages are tried in order, each exactly and then
    /// as a more general one (`fr` for `fr-CA`).
    ///
    /// - Parameter preferred: BCP 47 tags in the form that operating systems report.
    public static func best(of offer: [NewsLanguage], for preferred: [String]) -> NewsLanguage? {
        for tag in preferred {
            var subtags = tag.asciiLowercased.split { $0 == "-" || $0 == "_" }
            while !subtags.isEmpty {
                let wanted = subtags.joined(separator: "-")
                if let found = offer.first(where: { $0.code.equalsIgnoringASCIICase(wanted) }) { return found }
                subtags.removeLast()
            }
        }
        return nil
    }
}

/// The reason why a language was refused.
public enum NewsLanguageProblem: Error, Sendable, Hashable, CustomStringConvertible {
    case noCode
    case noName(code: String)
    /// The property's name cannot be used in a template.
    case unfit(property: String)

    public var description: String {
        switch self {
        case .noCode: "a language needs a code, such as fr"
        case .noName(let code): "'\(code.prefix(60))' needs the name that its sender gives it, such as French"
        case .unfit(let property):
            "'\(property.prefix(60))' cannot be a property of templates: use 1 to 120 letters, digits and '_'"
        }
    }
}

/// The reader's language, kept on the device.
public struct LanguageStore: Sendable {
    /// The newsroom's languages, in display order.
    public let offer: [NewsLanguage]
    private let store: any LocalStore
    private let preferred: [String]

    private static let name = "locale"

    /// - Parameter preferred: BCP 47 tags, the reader's first choice first; `nil` for the system's languages.
    public init(
        _ store: any LocalStore, offer: [NewsLanguage] = NewsLanguage.standard, preferred: [String]? = nil
    ) {
        self.store = store
        self.offer = offer
        self.preferred = preferred ?? Locale.preferredLanguages
    }

    #if canImport(Darwin)
    /// Keeps the choice in the app's user defaults.
    public init(offer: [NewsLanguage] = NewsLanguage.standard) {
        self.init(DefaultsStore(), offer: offer)
    }
    #endif

    /// The reader's choice, or the system's language, or the first on offer; `nil` only if the offer is empty.
    public var language: NewsLanguage? {
        choice ?? NewsLanguage.best(of: offer, for: preferred) ?? offer.first
    }

    /// The language that the reader chose; `nil` while the system's language decides. A choice that is no longer on
    /// offer is kept, in case it returns.
    public var choice: NewsLanguage? {
        store.value(String.self, named: Self.name).flatMap { code in offer.first { $0.code == code } }
    }

    /// - Parameter language: `nil` lets the system's language decide again.
    public func choose(_ language: NewsLanguage?) throws {
        try store.save(value: language?.code, named: Self.name)
    }
}
