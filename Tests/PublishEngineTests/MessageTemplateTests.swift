import ByteText
import NewsModel
import NotificationHub
import Testing

@testable import PublishEngine

struct MessageTemplateTests {
    static let full: NewsEvent = {
        var event = NewsEvent(id: "id-1", headline: "AT&T <b>\"buys\"</b> 'all' {{id}} \\ 👩‍👩‍👧")
        event.summary = "A summary"
        event.language = "en"
        event.urgency = 2
        event.story = "story-1"
        event.version = .init("7")
        event.publishedAt = Instant(rfc3339: "2026-11-21T01:02:03Z")
        event.link = "https://example.com/?a=1&b=2"
        event.data = [.init(name: "edition", value: "AM & PM"), .init(name: "empty", value: "")]
        return event
    }()

    @Test(arguments: [
        ("Breaking {{category}} News : {{headline}}", "Breaking World News : \(full.headline)"),
        ("{{{headline}}}", full.headline), ("{{&headline}}", full.headline), ("{{ headline }}", full.headline),
        ("{{& headline }}!", "\(full.headline)!"),
        ("{{id}} {{link}} {{language}} {{urgency}}", "id-1 https://example.com/?a=1&b=2 en 2"),
        ("{{story}}/{{version}} {{publishedAt}}", "story-1/7 2026-11-21T01:02:03.000Z"),
        ("{{summary}}", "A summary"), ("[{{data.edition}}{{data.missing}}{{data.empty}}]", "[AM & PM]"),
        ("no variables } { }}", "no variables } { }}"), ("{ {{id}} }", "{ id-1 }"),
        ("a\n  {{id}}\r\n\n b", "a\n  id-1\r\n\n b"), ("  {{id}}  ", "  id-1  "), ("\n{{id}}", "id-1"),
    ])
    func `variables are replaced without any escaping`(source: String, message: String) throws {
        let template = try MessageTemplate(source)
        #expect(template.render(Self.full, category: "World") == message)
        #expect(template.renderByLibrary(Self.full, category: "World") == message)
    }

    @Test(arguments: [
        ("{{#summary}}{{headline}}: {{summary}}{{/summary}}{{^summary}}-{{/summary}}", "\(full.headline): A summary"),
        ("{{#data.missing}}x{{/data.missing}}{{id}}", "id-1"), ("{{uppercased(category)}}", "WORLD"),
        ("{{! a comment }}{{id}}", "id-1"), ("{{^data.empty}}none{{/data.empty}}", "none"),
        ("{{#empty(link)}}none{{/empty(link)}}{{id}}", "id-1"),
    ])
    func `sections, transforms and comments are the library's`(source: String, message: String) throws {
        let template = try MessageTemplate(source)
        #expect(!template.isPlain)
        #expect(template.render(Self.full, category: "World") == message)
    }

    @Test(arguments: [
        "", " \n", "{{headlin}}", "{{Headline}}", "{{data}}", "{{data.}}", "{{data.a.b}}", "{{.}}", "{{}}", "{{ }}",
        "{{headline", "{{{headline}}", "{{{{headline}}}}", "{{>partial}}", "{{<parent}}{{/parent}}",
        "{{$block}}{{/block}}",
        "{{=<% %>=}}", "{{%CONTENT_TYPE:HTML}}", "{{*x}}", "{{#summary}}", "{{/summary}}", "{{#summary}}{{/headline}}",
        "{{shout(headline)}}", "{{uppercased(shout(headline))}}", "{{uppercased(headline}}", "{{head line}}",
        "{{headline}\u{301}}", "{{headline}}\u{301}", "{{data.ä}}", "{{#data}}{{edition}}{{/data}}",
        String(repeating: "a", count: 4_097),
        String(repeating: "{{#id}}", count: 17) + String(repeating: "{{/id}}", count: 17),
    ])
    func `an unsupported part of a message is a problem with a remedy`(source: String) {
        let problems = MessageTemplate.problems(in: source)
        #expect(!problems.isEmpty)
        #expect(problems.allSatisfy { $0.path == ["payload", "message"] && !$0.remedy.isEmpty })
        #expect(throws: PayloadProblems.self) { try MessageTemplate(source) }
    }

    @Test
    func `every unknown variable is named`() {
        let problems = MessageTemplate.problems(in: "{{headlin}} {{categroy}} {{id}}")
        #expect(problems.map(\.message) == ["'headlin' is not a variable", "'categroy' is not a variable"])
    }

    @Test(arguments: ["{{summary}}", "{{data.nothing}} \n", "{{#summary}}x{{/summary}}", "{{&link}}"])
    func `a message is never blank`(source: String) throws {
        let event = NewsEvent(id: "1", headline: "headline")
        #expect(try MessageTemplate(source).render(event, category: "World") == "headline")
    }

    @Test
    func `the short way and the library agree on templates put together at random`() throws {
        let pieces = [
            "{{headline}}", "{{{summary}}}", "{{&link}}", "{{ id }}", "{{data.edition}}", "{{category}}", " ", "\n",
            "\t",
            "\r\n", "{", "}", "a", "é", "\u{301}", "👩‍👩‍👧", "\u{200D}", "}}", "&amp;", "\u{2028}", "\u{0}", "{{version}}",
        ]
        var random = SeededRandom(seed: 7)
        var plain = 0
        for _ in 0..<400 {
            let source = (0..<Int.random(in: 1...7, using: &random))
                .map { _ in pieces[Int.random(in: 0..<pieces.count, using: &random)] }.joined()
            guard let template = try? MessageTemplate(source), template.isPlain else { continue }
            plain += 1
            for event in [Self.full, NewsEvent(id: "{{x}}", headline: "")] {
                let library = template.renderByLibrary(event, category: "World, Sports")
                let message = template.render(event, category: "World, Sports")
                #expect(
                    message == (library.allSatisfy(\.isWhitespace) ? event.headline : library),
                    "\(source.debugDescription)")
            }
        }
        #expect(plain > 200)
    }

    @Test
    func `no template traps, whatever it is made of`() {
        let pieces = [
            "{{", "}}", "{", "}", "#", "^", "/", "&", "!", "=", "%", ">", "<", "$", "*", "(", ")", ".", " ", "\n", "id",
            "data.edition", "headline", "reversed(", "empty(", "{{#id}}", "{{/id}}", "{{^link}}", "{{/link}}",
            "\u{301}",
        ]
        var random = SeededRandom(seed: 11)
        var compiled = 0
        for _ in 0..<20_000 {
            let source = (0..<Int.random(in: 1...9, using: &random))
                .map { _ in pieces[Int.random(in: 0..<pieces.count, using: &random)] }.joined()
            guard let template = try? MessageTemplate(source) else { continue }
            compiled += 1
            #expect(!template.render(Self.full, category: "World").isEmpty)
        }
        #expect(compiled > 500)
    }

    @Test
    func `the tutorials' template takes the short way`() throws {
        #expect(try MessageTemplate(PayloadSettings.standardMessage).isPlain)
    }

    @Test
    func `platforms are checked with the message`() {
        let settings = PayloadSettings(mode: .native([.apple, .template, .apple]), message: "{{x}}")
        #expect(
            settings.problems.map(\.path) == [
                ["payload", "platforms"], ["payload", "platforms"], ["payload", "message"],
            ])
        #expect(PayloadSettings(mode: .native([])).problems.map(\.path) == [["payload", "platforms"]])
        #expect(PayloadSettings().problems.isEmpty)
        #expect(PayloadSettings().platforms == [.template])
        #expect(PayloadSettings(mode: .native([.fcmv1, .apple])).platforms == [.fcmv1, .apple])
        #expect(throws: PayloadProblems.self) { try PayloadBuilder(settings) }
    }
}
