import ByteText
import NewsModel
import NotificationHub

extension Localization {
    /// Problems of the settings, in reading order.
    public var problems: [PayloadProblem] {
        var problems = languageProblems
        switch mode {
        case .properties: problems += propertyProblems
        case .tags, .expression: problems += patternProblems
        }
        return problems + fallbackProblems + messageProblems
    }

    private static func problem(_ path: String..., message: String, remedy: String) -> PayloadProblem {
        PayloadProblem(path: ["localization"] + path, message: message, remedy: remedy)
    }

    private var languageProblems: [PayloadProblem] {
        if languages.isEmpty {
            return [
                Self.problem(
                    "languages", message: "names no language",
                    remedy: "write codes and names, e.g. {en: English, fr: French}")
            ]
        }
        var problems: [PayloadProblem] = []
        if languages.count > Self.languagesMax {
            problems.append(
                Self.problem(
                    "languages", message: "names \(languages.count) languages",
                    remedy: "name at most \(Self.languagesMax)"))
        }
        var known: Set<LanguageTag> = []
        for language in languages {
            guard let tag = LanguageTag(language.code) else {
                problems.append(
                    Self.problem(
                        "languages", language.code,
                        message: "'\(TextCut.excerpt(language.code))' is not a language code",
                        remedy: "write one of BCP 47, e.g. en, fr-CA or zh-Hant"))
                continue
            }
            if !known.insert(tag).inserted {
                problems.append(
                    Self.problem(
                        "languages", language.code, message: "is named more than once",
                        remedy: "name each language once"))
            }
        }
        return problems
    }

    // MARK: Properties

    private var propertyProblems: [PayloadProblem] {
        guard property.contains(Self.languageMark) else {
            return [
                Self.problem(
                    "property", message: "has no {language}: all languages would be one",
                    remedy: "write e.g. \(Self.standardProperty)")
            ]
        }
        var problems: [PayloadProblem] = []
        var users: [String: String] = [:]
        for language in languages {
            let name = propertyName(of: language)
            let path = "languages"
            let isName =
                (1...120).contains(name.utf8.count)
                && name.utf8.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || $0 == UInt8(ascii: "_") }
            if !isName {
                problems.append(
                    Self.problem(
                        path, language.code, message: "'\(TextCut.excerpt(name))' cannot be the name of a property",
                        remedy: "use letters, digits and '_', at most 120, as templates can name nothing else"))
            } else if PayloadContent.isReserved(name, on: .template) {
                problems.append(
                    Self.problem(
                        path, language.code, message: "the property \(name) has another meaning in every send",
                        remedy: "change localization.property or the language's name"))
            } else if let other = users.updateValue(language.code, forKey: name.lowercased()) {
                problems.append(
                    Self.problem(
                        path, language.code, message: "has the same property as \(other): \(name)",
                        remedy: "give each language a name of its own; hubs compare them without case"))
            }
        }
        return problems
    }

    // MARK: Tags

    private var patternProblems: [PayloadProblem] {
        let example = Self.standardTag(mode)
        if !tag.contains(Self.languageMark) {
            return [
                Self.problem(
                    "tag", message: "has no {language}: readers of all languages would get every one",
                    remedy: "write e.g. \(example)")
            ]
        }
        if tag.contains(Self.categoryMark) != (mode == .tags) {
            let (message, remedy) =
                mode == .tags
                ? ("has no {category}: readers of all categories would get every one", "write e.g. \(example)")
                : ("has a {category}: the mode expression names the category by its own tag", "write e.g. \(example)")
            return [Self.problem("tag", message: message, remedy: remedy)]
        }
        return tagProblems(categories: [CategoryTable.Category(name: "x")])
    }

    /// Problems of the combined tags of categories and languages; empty in the mode `properties`.
    public func tagProblems(categories: [CategoryTable.Category]) -> [PayloadProblem] {
        guard mode != .properties else { return [] }
        var problems: [PayloadProblem] = []
        var users: [Tag: String] = [:]
        for language in languages {
            for category in mode == .tags ? categories : Array(categories.prefix(1)) {
                let text = tag(of: language, category: category.tag)
                do {
                    let user = mode == .tags ? "\(category.name) in \(language.code)" : language.code
                    if let other = users.updateValue(user, forKey: try Tag(text)) {
                        problems.append(
                            Self.problem(
                                "tag", message: "\(other) and \(user) have the same tag \(text)",
                                remedy: "write e.g. \(Self.standardTag(mode))"))
                    }
                } catch {
                    problems.append(
                        Self.problem(
                            "tag", message: "'\(TextCut.excerpt(text))' cannot be a tag: \(error)",
                            remedy: "use letters, digits and _ @ # . : -, at most 120"))
                    return problems
                }
            }
        }
        return problems
    }

    /// Every tag that readers of a language have; empty in the mode `properties`.
    public func tags(of categories: [CategoryTable.Category]) -> [String] {
        languages.flatMap { language in
            switch mode {
            case .properties: [String]()
            case .tags: categories.map { tag(of: language, category: $0.tag) }
            case .expression: [tag(of: language, category: "")]
            }
        }
    }

    // MARK: Fallback and message

    private var fallbackProblems: [PayloadProblem] {
        fallback.filter { code in !languages.contains { LanguageTag.areEqual($0.code, code) } }.map { code in
            Self.problem(
                "fallback", message: "'\(TextCut.excerpt(code))' is not one of localization.languages",
                remedy:
                    "write codes that stand there: \(languages.prefix(Self.languagesMax).map(\.code).joined(separator: ", "))"
            )
        }
    }

    private var messageProblems: [PayloadProblem] {
        MessageTemplate.problems(in: message).map {
            Self.problem("message", message: $0.message, remedy: $0.remedy)
        }
    }
}
