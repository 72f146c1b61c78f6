import KafkaModel
import NewsModel
import NotificationHub
import Testing

@testable import PublishEngine

/// Properties of template payloads that the operator writes in `payload.properties`.
struct TemplatePropertiesTests {
    private func settings(_ properties: [(String, String)]) -> PayloadSettings {
        var settings = PayloadSettings()
        settings.properties = properties.map { PayloadSettings.Property(name: $0.0, template: $0.1) }
        return settings
    }

    private func body(_ event: NewsEvent, _ properties: [(String, String)]) throws -> JSONTree {
        let payload = try NativeSamples.payload(event, settings(properties))
        return try #require(JSONTree(parsing: payload.request.body))
    }

    @Test func `properties are added to the payload or replace what is sent`() throws {
        let body = try body(
            PayloadSamples.event(),
            [
                ("title", "{{category}}"), ("deepLink", "app://news/{{id}}"),
                ("edition", "{{uppercased(data.edition)}}!"),
                ("messageParam", "{{headline}} ({{message}})"), ("summary", "{{data.missing}}"), ("language", "x"),
            ])
        #expect(body["title"]?.string == "World" && body["deepLink"]?.string == "app://news/id-1")
        #expect(body["edition"]?.string == "AM!" && body["language"]?.string == "x")
        #expect(body["messageParam"]?.string == "Headline (Breaking World News : Headline)")
        #expect(body["summary"] == nil && body["link"]?.string == "https://example.com/?a=1&b=2")
        guard case .object(let members) = body else { return }
        #expect(Set(members.map(\.name)).count == members.count)
    }

    @Test func `a payload without properties is the same as ever`() throws {
        let event = PayloadSamples.event()
        let none = try NativeSamples.payload(event, settings([]))
        let other = try NativeSamples.payload(event, settings([("x", "{{data.missing}}")]))
        #expect(none == other)
    }

    @Test func `a message is never blank, and a test stays marked`() throws {
        var event = NewsEvent(id: "1", headline: "H")
        event.isTest = true
        let body = try body(event, [("messageParam", "{{summary}}"), ("title", "{{headline}}")])
        #expect(body["messageParam"]?.string == "TEST Breaking World News : H" && body["title"]?.string == "TEST H")
    }

    @Test func `added properties outlive the event's own values, and the payload fits`() throws {
        var event = NewsEvent(id: "1", headline: "H")
        event.data = (0..<40).map { .init(name: "v\($0)", value: String(repeating: "v", count: 2_000)) }
        let payload = try NativeSamples.payload(event, settings([("deepLink", "app://{{id}}")]))
        #expect(payload.cuts == [.title, .data])
        #expect(JSONTree(parsing: payload.request.body)?["deepLink"]?.string == "app://1")
    }

    @Test func `a property that inserts a long text is shortened, and the event's own values are not`() throws {
        var event = NewsEvent(id: "1", headline: "H")
        event.summary = String(repeating: "s", count: 9_000)
        event.data = [.init(name: "token", value: String(repeating: "t", count: 3_000))]
        let payload = try NativeSamples.payload(event, settings([("teaser", "{{headline}}: {{summary}}")]))
        let body = JSONTree(parsing: payload.request.body)
        #expect((1_000...1_600).contains(body?["teaser"]?.string?.utf8.count ?? 0))
        #expect(body?["token"]?.string?.utf8.count == 3_000)
        #expect(payload.cuts.contains(.data))
    }

    @Test(arguments: [
        ([("title", "{{titel}}")], "title: 'titel' is not a variable"),
        ([("a{{id}}", "x")], "a{{id}}: a variable cannot be the name of a property"),
        (
            [("deepLink", "x"), ("deeplink", "y")],
            "deeplink: differs from another name only in case, which hubs ignore"
        ),
        ([("News_French", "x")], "News_French: is the property of a language"),
    ])
    func `an unusable property is an error`(properties: [(String, String)], problem: String) {
        var settings = settings(properties)
        settings.localization = Localization(languages: [.init(code: "fr", name: "French")])
        #expect(NativeSamples.problems(settings) == [problem])
    }

    @Test func `properties by which a notification is replaced or ends stay Newswire's`() throws {
        let properties = [("tag", "mine"), ("ttl", "1")]
        #expect(try body(PayloadSamples.event(), properties)["tag"]?.string == "story-1")
        #expect(
            NativeSamples.warnings(settings(properties)) == [
                "tag: is set by Newswire and not replaced", "ttl: is set by Newswire and not replaced",
            ])
    }
}
