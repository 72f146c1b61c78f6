import PublishEngine

/// The languages of the news.
extension SettingsKey {
    static let localization = [
        SettingsKey(
            "localization.languages.*", .text,
            """
            A language that readers can choose, by its BCP 47 code, and its name in property: {en: English, fr: French}. \
            At most 20.
            """),
        SettingsKey(
            "localization.mode", .choice(Localization.Mode.allCases.map(\.rawValue)),
            default: Localization.Mode.properties.rawValue,
            """
            properties: one send carries the headlines of every language, and each device's template picks one. tags: an \
            event has one language, and goes to the tag of its category and language. expression: the same, as category \
            && language.
            """),
        SettingsKey(
            "localization.property", .text, default: Localization.standardProperty,
            "In mode properties: the property for a language, {language} being its name."),
        SettingsKey(
            "localization.message", .text, default: Localization.standardMessage,
            "In mode properties: the text of such a property, a template like payload.message."),
        SettingsKey(
            "localization.tag", .text,
            """
            The tag of a language's readers; {language} is its code. In mode tags {category}_{language} by default, \
            {category} being the category's tag; in mode expression language_{language}.
            """),
        SettingsKey(
            "localization.fallback", .list(.text),
            """
            Codes of languages, in order, for what an event does not say in a reader's language: fr-CA is filled from fr, \
            then from these, then from the headline.
            """),
    ]
}
