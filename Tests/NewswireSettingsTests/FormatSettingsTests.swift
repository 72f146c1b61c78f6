import NewsModel
import NewswireSettings
import PublishEngine
import Testing

struct FormatSettingsTests {
    private static let cms = """
        events:
          formats:
            - name: cms
              when: {topic: news.events, header: {content-type: application/vnd.cms+json}, member: /type, is: [article, 7]}
              map:
                id: /articleId
                headline: [/teaser/title, /title]
                category: /section/slug
                urgency: {from: /priority, values: {flash: 1, urgent: 2, normal: 4}}
                status: {from: [/state, /old], values: {retracted: canceled, true: withheld}, else: usable}
                publishedAt: {from: /published, as: unix-millis}
                environment: {else: production}
                data: {kicker: /teaser/kicker, author: {from: /authors/*/name, else: ""}}
        schemaRegistry: {url: "https://registry:8081", basicAuth: "user:hidden-word"}

        """

    private func load(_ more: String) -> LoadedSettings { LoadedSettings(minimal() + more) }

    private func pointers(_ texts: String...) -> [JSONPointer] { texts.compactMap { JSONPointer($0) } }

    @Test func `formats and the registry are read as written, and the secret is not shown`() throws {
        let loaded = load(Self.cms)
        #expect(lines(loaded) == [])
        let settings = try #require(loaded.settings)
        var condition = EventFormat.Condition()
        condition.topic = "news.events"
        condition.headers = [.init(name: "content-type", value: "application/vnd.cms+json")]
        condition.member = JSONPointer("/type")
        condition.values = ["article", "7"]
        let members = [
            MappedMember(.id, [.init(pointers: pointers("/articleId"))]),
            MappedMember(.headline, [.init(pointers: pointers("/teaser/title", "/title"))]),
            MappedMember(.category, [.init(pointers: pointers("/section/slug"))]),
            MappedMember(
                .urgency,
                [.init(pointers: pointers("/priority"), values: ["flash": "1", "urgent": "2", "normal": "4"])]),
            MappedMember(
                .status,
                [
                    .init(
                        pointers: pointers("/state", "/old"), values: ["retracted": "canceled", "true": "withheld"],
                        otherwise: "usable")
                ]),
            MappedMember(.publishedAt, [.init(pointers: pointers("/published"), unit: .milliseconds)]),
            MappedMember(.environment, [.init(pointers: [], otherwise: "production")]),
            MappedMember(
                .data,
                [
                    .init(name: "kicker", pointers: pointers("/teaser/kicker")),
                    .init(name: "author", pointers: pointers("/authors/*/name"), otherwise: ""),
                ]),
        ]
        let format = EventFormat(name: "cms", condition: condition, members: members)
        #expect(settings.engine.formats == EventFormats([format], usesRegistry: true))
        #expect(settings.registry?.url == "https://registry:8081")
        #expect(settings.registry?.basicAuth?.revealed == "user:hidden-word")
        #expect(!EffectiveSetting.yaml(loaded.effective).contains("hidden-word"))
    }

    @Test func `settings without formats have no formats`() throws {
        let settings = try #require(load("").settings)
        #expect(settings.engine.formats == EventFormats())
        #expect(settings.registry == nil)
    }

    @Test(arguments: [
        ("headline: teaser", "map.headline", "'teaser' is not a JSON Pointer begin it with a slash"),
        ("headline: [/a, b]", "map.headline", "'b' is not a JSON Pointer"),
        ("headline: []", "map.headline", "names no pointer"),
        ("id: /a", "map.headline", "is missing"),
        ("headline: /h, urgency: {from: /p, values: [1]}", "map.urgency", "values is not understood"),
        ("headline: /h, urgency: {from: /p, values: {a: [1]}}", "map.urgency", "an entry that is no single value"),
        ("headline: /h, urgency: {form: /p}", "map.urgency", "did you mean from?"),
        ("headline: /h, urgency: {values: {a: 1}}", "map.urgency", "has no from"),
        ("headline: /h, publishedAt: {from: /p, as: millis}", "map.publishedAt", "unix-seconds, unix-millis"),
        ("headline: /h, data: {kicker: kick}", "map.data", "kicker: 'kick' is not a JSON Pointer"),
        ("headline: /h, headlien: /h", "map.headlien", "did you mean headline?"),
        ("headline: /h, status: {from: /s, else: retracted}", "map.status", "'retracted' can be no event's status"),
        (
            "headline: /h, urgency: {from: /p, values: {low: 4, flash: 12}}", "map.urgency",
            "'12' can be no event's urgency"
        ),
        ("headline: /h, id: {from: /a, else: same}", "map.id", "events would have the same id"),
        ("headline: /h, publishedAt: {else: yesterday}", "map.publishedAt", "bad-date"),
        ("headline: /h, category: {from: /c, values: {}}", "map.category", "values is not understood"),
        ("headline: /h, urgency: {from: /u, as: unix-seconds}", "map.urgency", "as is for times"),
        ("headline: ''", "map.headline", "is the whole document"),
        ("headline: /h, data: {kicker: ''}", "map.data", "kicker: '' is the whole document"),
    ])
    func `a map that cannot work is refused with its key`(map: String, key: String, says: String) throws {
        let loaded = load("events: {formats: [{name: cms, map: {\(map)}}]}\n")
        #expect(loaded.settings == nil)
        let problem = loaded.problems.first { $0.key == "events.formats.cms.\(key)" && $0.severity == .error }
        let text = "\(try #require(problem, "\(loaded.problems)").message) \(problem?.remedy ?? "")"
        #expect(text.contains(says), "\(text)")
    }

    @Test(arguments: [
        ("events: {formats: [{map: {headline: /h}}]}", "has no name"),
        ("events: {formats: [{name: a, when: {member: x}, map: {headline: /h}}]}", "'x' is not a JSON Pointer"),
        ("events: {formats: [{name: a, when: {is: x}, map: {headline: /h}}]}", "is without when.member"),
        ("events: {formats: [{name: a, when: {member: /x, is: []}, map: {headline: /h}}]}", "names no value"),
        (
            "events: {formats: [{name: a, map: {headline: /h}}, {name: b, map: {headline: /h}}]}",
            "is never tried: every record has the format a"
        ),
        ("schemaRegistry: {url: registry}", "is not the address of a registry"),
        ("schemaRegistry: {url: 'https://u:p@registry'}", "is not the address of a registry"),
        ("schemaRegistry: {url: 'http://registry', basicAuth: word}", "has no colon"),
        ("schemaRegistry: {basicAuth: 'a:b'}", "is missing"),
    ])
    func `a condition or a registry that cannot work is refused`(text: String, says: String) {
        let loaded = load(text + "\n")
        #expect(loaded.settings == nil)
        #expect(loaded.problems.contains { $0.message.contains(says) }, "\(loaded.problems)")
    }

    @Test func `a fixed category that the settings do not have is a warning`() {
        let map = "{id: /i, headline: /h, category: {from: /c, values: {a: World, b: Nowhere}, else: Sprots}}"
        let loaded = load("events: {formats: [{name: cms, map: \(map)}]}\n")
        #expect(loaded.settings != nil)
        #expect(loaded.problems.map(\.key) == Array(repeating: "events.formats.cms.map.category", count: 2))
        #expect(loaded.problems.map(\.remedy).contains { $0.contains("Sports") })
    }

    @Test func `a topic that no lane reads is a warning`() {
        let loaded = load("events: {formats: [{name: cms, when: {topic: news.evnets}, map: {id: /i, headline: /h}}]}\n")
        #expect(loaded.settings != nil)
        #expect(loaded.problems.map(\.key) == ["events.formats.cms.when.topic"])
        #expect(loaded.problems.map(\.remedy).contains { $0.contains("news.events") })
    }

    @Test func `a format without an id is a warning`() {
        let loaded = load("events: {formats: [{name: a, map: {headline: /h}}]}\n")
        #expect(loaded.settings != nil)
        #expect(loaded.problems.map(\.key) == ["events.formats.a.map.id"])
    }
}
