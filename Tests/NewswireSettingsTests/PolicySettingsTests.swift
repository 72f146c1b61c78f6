import ByteText
import Foundation
import NewsModel
import NewswireSettings
import NotificationHub
import PublishEngine
import Testing

struct PolicySettingsTests {
    private func load(_ more: String) -> LoadedSettings {
        LoadedSettings(minimal() + more + "\n")
    }

    @Test func `quiet hours, environment and testers are read as written`() throws {
        let loaded = load(
            """
            environment: production
            test: {tag: staff}
            payload: {templates: {normal: breakingNews, quiet: breakingNewsQuiet}}
            quiet:
              - {categories: [World], from: "22:00", to: "07:00", zone: Europe/Berlin, do: silent, exceptUrgency: 2}
              - {from: 0:30, to: "24:00", zone: UTC, do: drop}
              - {categories: [Sports], from: "23:15", to: "6:05", zone: America/New_York}
            """)
        #expect(lines(loaded) == [])
        let policy = try #require(loaded.settings).policy
        #expect(policy.environment == "production")
        #expect(policy.acceptsUnstamped)
        #expect(policy.testTag == "staff")
        #expect(policy.quietHours.map(\.categories) == [["World"], [], ["Sports"]])
        #expect(policy.quietHours.map(\.window.from) == [1_320, 30, 1_395])
        #expect(policy.quietHours.map(\.window.to) == [420, 1_440, 365])
        #expect(policy.quietHours.map(\.window.zone.name) == ["Europe/Berlin", "UTC", "America/New_York"])
        #expect(policy.quietHours.map(\.action) == [.silent, .drop, .silent])
        #expect(policy.quietHours.map(\.exceptUrgency) == [2, nil, nil])
        #expect(loaded.settings?.payload.templates == .standard)
    }

    @Test(arguments: [
        ("", UserTags.reserved()),
        ("users: {tag: userId, secret: 0123456789abcdef}", .reserved(secret: AccessKey("0123456789abcdef"))),
        ("users: {tag: plain, secret: 0123456789abcdef}", .signed(with: AccessKey("0123456789abcdef"))),
    ])
    func `the settings choose the tags of single readers`(text: String, users: UserTags) throws {
        let loaded = load(text)
        #expect(lines(loaded) == [])
        #expect(loaded.settings?.policy.users == users)
        #expect(!EffectiveSetting.yaml(loaded.effective).contains("0123456789"))
    }

    @Test(arguments: [
        ("users: {tag: plain}", "users.secret", "any app could make the tag"),
        ("users: {tag: plain, secret: short}", "users.secret", "too short"),
        ("users: {secret: short}", "users.secret", "too short"), ("users: {tag: hash}", "users.tag", "userId"),
    ])
    func `a tag that anybody could make is refused`(text: String, key: String, says: String) throws {
        let loaded = load(text)
        #expect(loaded.settings == nil)
        #expect(loaded.problems.contains { $0.key == key && "\($0.message) \($0.remedy)".contains(says) })
    }

    @Test(arguments: [
        ("", true), ("environment: staging\n", true), ("environment: production\n", true),
        ("ingest: {feeds: [{name: a, url: https://b.c/d}]}\n", true),
        ("environment: staging\ningest: {feeds: [{name: a, url: https://b.c/d}]}\n", true),
        ("environment: production\ningest: {feeds: [{name: a, url: https://b.c/d}]}\n", false),
        ("environment: production\nacceptUnstamped: true\ningest: {feeds: [{name: a, url: https://b.c/d}]}\n", true),
        ("environment: production\nacceptUnstamped: false\n", false),
    ])
    func `production with feeds accepts no unstamped events by default`(text: String, accepts: Bool) throws {
        #expect(load(text).settings?.policy.acceptsUnstamped == accepts)
    }

    @Test(arguments: [
        (
            "quiet: [{from: \"22:00\", to: \"07:00\", zone: Europe/Berlin}]", "quiet.1.do",
            "not everything can be silent"
        ),
        (
            "payload: {mode: native, platforms: [apple, windowsphone]}\nquiet: [{from: \"22:00\", to: \"07:00\", zone: UTC}]",
            "quiet.1.do", "windowsphone cannot be silent"
        ),
        (
            "quiet: [{from: \"22:00\", to: \"07:00\", zone: Europe/Berln, do: drop}]", "quiet.1.zone",
            "is not a time zone"
        ),
        ("quiet: [{from: \"22:00\", to: \"25:00\", zone: UTC, do: drop}]", "quiet.1.to", "is not a time of day"),
        ("quiet: [{from: \"22\", to: \"07:00\", zone: UTC, do: drop}]", "quiet.1.from", "is not a time of day"),
        ("quiet: [{from: \"22:00\", to: \"22:00\", zone: UTC, do: drop}]", "quiet.1.to", "is when they begin"),
        ("quiet: [{from: \"22:00\", to: \"07:00\", do: drop}]", "quiet.1.zone", "is missing"),
        ("quiet: [{from: \"22:00\", to: \"07:00\", zone: UTC, do: hush}]", "quiet.1.do", "hush"),
        (
            "quiet: [{categories: [Wrold], from: \"22:00\", to: \"07:00\", zone: UTC, do: drop}]", "quiet.1.categories",
            "did you mean World?"
        ),
        ("quiet: {from: \"22:00\"}", "quiet", "begin each item with a dash"),
        (
            "quiet: [{from: \"22:00\", to: \"07:00\", zone: UTC, do: drop, urgency: 2}]", "quiet.1.urgency",
            "is not a setting"
        ),
        ("test: {tag: World}", "test.tag", "readers would get the tests"),
        ("test: {tag: a b}", "test.tag", "may only hold"),
        ("environment: a b", "environment", "is not a name"),
        ("payload: {templates: {normal: breakingNews}}", "payload.templates.quiet", "is missing"),
        ("payload: {templates: {normal: a, quiet: A}}", "payload.templates.quiet", "makes a sound too"),
        ("payload: {templates: {normal: a b, quiet: c}}", "payload.templates.normal", "cannot be a tag"),
    ])
    func `an invalid setting is refused with its place and a remedy`(text: String, key: String, says: String) throws {
        let loaded = load(text)
        #expect(loaded.settings == nil)
        let problems = loaded.errors.filter { $0.key == key }
        #expect(problems.contains { "\($0.message); \($0.remedy)".contains(says) }, "\(lines(loaded))")
        #expect(problems.allSatisfy { !$0.remedy.isEmpty })
    }

    @Test(arguments: [
        "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Casablanca", "Asia/Kolkata", "UTC",
        "America/Sao_Paulo", "Pacific/Chatham",
    ])
    func `the table of a zone's clocks agrees with the machine for ten years`(name: String) throws {
        let loaded = load("quiet: [{from: \"22:00\", to: \"07:00\", zone: \(name), do: drop}]")
        let window = try #require(loaded.settings?.policy.quietHours.first).window
        let zone = try #require(TimeZone(identifier: name))
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = zone
        var random = SeededRandom(seed: 7)
        let start = Date.now.timeIntervalSince1970
        for _ in 0..<300 {
            let time = Date(timeIntervalSince1970: (start + Double(random.next() % (3_600 * 86_400))).rounded())
            let shown = calendar.dateComponents([.hour, .minute], from: time)
            let minutes = (shown.hour ?? 0) * 60 + (shown.minute ?? 0)
            let isInside = window.end(at: Instant(milliseconds: Int64(time.timeIntervalSince1970) * 1_000)) != nil
            // No zone changes its clocks around these times.
            #expect(isInside == (minutes >= 1_320 || minutes < 420), "\(time)")
        }
    }

    @Test func `the settings in force can be read back`() throws {
        let text = """
            quiet:
              - {categories: [World], from: "22:00", to: "07:00", zone: Europe/Berlin, do: drop, exceptUrgency: 2}
              - {from: "01:00", to: "02:00", zone: UTC, do: delay}
            """
        let printed = EffectiveSetting.yaml(load(text).effective)
        let again = LoadedSettings(
            printed.replacing(Secret.mask, with: connectionString), environment: hubVariable)
        #expect(lines(again) == [])
        #expect(again.settings?.policy == load(text).settings?.policy)
    }
}
