import NewswireSettings
import PublishEngine
import Testing

struct LocalizationSettingsTests {
    private static let languages = "languages: {en: English, fr: French, zh: Mandarin}"

    private func load(_ more: String, environment: [String: String] = [:]) -> LoadedSettings {
        LoadedSettings(minimal() + more + "\n", environment: environment)
    }

    @Test func `languages, their property and the fallback are read as written`() throws {
        let loaded = load(#"localization: {property: "News_{language}", \#(Self.languages), fallback: [en]}"#)
        #expect(lines(loaded) == [])
        let localization = try #require(loaded.settings?.payload.localization)
        #expect(localization.mode == .properties)
        #expect(localization.property == "News_{language}")
        #expect(localization.languages.map(\.code) == ["en", "fr", "zh"])
        #expect(localization.languages.map(\.name) == ["English", "French", "Mandarin"])
        #expect(localization.fallback == ["en"])
    }

    @Test func `without the section news has one language`() {
        #expect(load("").settings?.payload.localization == nil)
    }

    @Test(arguments: [("tags", "{category}_{language}"), ("expression", "language_{language}")])
    func `each mode with tags has a default tag of its own`(mode: String, tag: String) {
        let localization = load("localization: {mode: \(mode), \(Self.languages)}").settings?.payload.localization
        #expect(localization?.mode.rawValue == mode)
        #expect(localization?.tag == tag)
    }

    @Test(arguments: [
        ("property: News, \(languages)", "localization.property", "has no {language}"),
        ("\(languages), fallback: [de]", "localization.fallback", "'de' is not one of localization.languages"),
        ("languages: {en: English, en-GB: ENGLISH}", "localization.languages.en-GB", "has the same property as en"),
        ("languages: {en: Title}, property: \"{language}\"", "localization.languages.en", "has another meaning"),
        ("languages: {en: Title, fr: messageParam}, property: \"{language}\"", "localization.languages.fr", "meaning"),
        ("languages: {english language: English}", "localization.languages.english language", "is not a language code"),
        ("languages: {fr: Français}", "localization.languages.fr", "cannot be the name of a property"),
        ("fallback: [en]", "localization.languages", "names no language"),
        ("mode: both, \(languages)", "localization.mode", "is not understood"),
        ("mode: tags, tag: World, \(languages)", "localization.tag", "has no {language}"),
        ("\(languages), message: \"{{head}}\"", "localization.message", "is not a variable"),
        ("\(languages), waitForTranslation: 1m", "localization.waitForTranslation", "is not a setting"),
    ])
    func `an invalid setting is refused with its place and a remedy`(text: String, key: String, says: String) throws {
        let loaded = load("localization: {\(text)}")
        #expect(loaded.settings == nil)
        let problems = loaded.errors.filter { $0.key == key }
        #expect(problems.contains { "\($0.message); \($0.remedy)".contains(says) }, "\(lines(loaded))")
        #expect(problems.allSatisfy { !$0.remedy.isEmpty })
    }

    @Test func `two categories and languages cannot have one tag, nor may a test reach readers`() {
        let clash = load(
            "categories: {A: {tag: x}, B: {tag: xa}}\n"
                + "localization: {mode: tags, tag: \"{category}{language}\", languages: {aa: One, aaa: Two}}")
        #expect(lines(clash).map { $0.contains("A in aaa") && $0.contains("have the same tag xaaa") } == [true])
        let test = load("test: {tag: World_fr}\nlocalization: {mode: tags, \(Self.languages)}")
        #expect(test.errors.map(\.key) == ["test.tag"])
    }
}
