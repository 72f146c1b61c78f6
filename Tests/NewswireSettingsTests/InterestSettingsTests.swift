import NewsModel
import NewswireSettings
import PublishEngine
import Testing

struct InterestSettingsTests {
    private func load(_ more: String, environment: [String: String] = [:]) -> LoadedSettings {
        LoadedSettings(minimal() + more, environment: environment)
    }

    @Test func `kinds are read with their tags and places`() throws {
        let loaded = load(#"interests: {team: {}, author: {tag: "by-{id}", from: /authors/*/id}}"#)
        #expect(lines(loaded) == [])
        let settings = try #require(loaded.settings)
        #expect(
            settings.policy.interests.kinds == [
                .init(name: "team", tag: "team_{id}"), .init(name: "author", tag: "by-{id}"),
            ])
        let pointer = try #require(JSONPointer("/authors/*/id"))
        #expect(settings.engine.formats.interests == [InterestSource(kind: "author", pointer: pointer)])
        let shown = loaded.effective.first { "\($0.path)" == "interests.team.tag" }
        #expect(shown != nil, "the default of a kind is shown")
    }

    @Test func `without the section nothing is read from documents`() throws {
        let settings = try #require(load("").settings)
        #expect(settings.policy.interests.kinds.isEmpty && settings.engine.formats == EventFormats())
    }

    @Test(arguments: [
        (#"interests: {author: {from: authors}}"#, "interests.author.from"),
        (#"interests: {team: {tag: "{id}"}}"#, "interests.team.tag"),
        (#"interests: {team: {tag: "Wor{id}"}}"#, "interests.team.tag"),
        (#"interests: {te.am: {tag: "x_{id}"}}"#, "interests.te.am"),
        ("test: {tag: team_1}\ninterests: {team: {}}", "interests.team.tag"),
        (#"interests: {team: {tags: "x_{id}"}}"#, "interests.team.tags"),
    ])
    func `a problem names its key`(text: String, key: String) {
        let loaded = load(text)
        #expect(loaded.settings == nil)
        #expect(loaded.errors.map(\.key).contains(key), "\(lines(loaded))")
    }

    @Test func `a tag can change while the service runs, a place cannot`() {
        let old = load("interests: {team: {}}").effective
        let new = load(#"interests: {team: {tag: "club_{id}", from: /teams}}"#).effective
        let change = SettingsChange(from: old, to: new)
        #expect(change.reloaded.map(\.description) == ["interests.team.tag"])
        #expect(change.needRestart.map(\.description) == ["interests.team.from"])
    }
}
