import Foundation
import KafkaModel
import NewsModel
import NotificationHub
import Testing

@testable import PublishEngine

/// One send for readers of several languages.
struct LocalizationTests {
    static let three = Localization(
        languages: [("en", "English"), ("fr", "French"), ("zh", "Mandarin")].map { .init(code: $0.0, name: $0.1) },
        fallback: ["en"])

    private func payload(
        _ event: NewsEvent, _ localization: Localization = three, on platform: Platform = .template,
        message: String = PayloadSettings.standardMessage
    ) throws -> Payload {
        try PayloadBuilder(PayloadSettings(message: message, localization: localization)).payload(
            event, routing: PayloadSamples.world, platform: platform, lane: LaneID(0), since: PayloadSamples.since)
    }

    private func texts(_ event: NewsEvent, _ localization: Localization = three) throws -> [String: String] {
        let body = PayloadSamples.json(try payload(event, localization).request.body)
        return try #require(body as? [String: String]).filter { $0.key == "messageParam" || $0.key.hasPrefix("News_") }
    }

    @Test func `one send carries the text of the tutorials and that of every language`() throws {
        let event = NewsEvent(
            id: "1", headline: "Ferry late", language: "en",
            headlines: [.init(language: "fr", text: "Ferry en retard"), .init(language: "ZH", text: "渡轮晚点")])
        #expect(
            try texts(event) == [
                "messageParam": "Breaking World News : Ferry late", "News_English": "Ferry late",
                "News_French": "Ferry en retard", "News_Mandarin": "渡轮晚点",
            ])
    }

    @Test(
        arguments: [
            // Reader's language, the event's texts, its own language, the reader's text, and if it was filled.
            ("fr", ["fr": "f", "en": "e"], nil, "f", false), ("fr-CA", ["fr": "f", "en": "e"], nil, "f", true),
            ("fr-CA", ["fr-FR": "f", "en": "e"], nil, "f", true), ("fr", ["fr-CA": "f", "en": "e"], nil, "f", false),
            ("fr", ["en": "e"], nil, "e", true), ("fr", ["en-GB": "e"], nil, "e", true),
            ("fr", ["de": "d"], nil, "H", true),
            ("fr", [:], "fr", "H", false), ("fr", [:], "fr_CA", "H", false), ("fr", [:], "en", "H", true),
            ("fr", [:], nil, "H", true), ("fr", ["fr": "f"], "fr", "f", false), ("fr", ["frr": "x"], nil, "H", true),
            ("zh-Hant-TW", ["zh-Hant": "t", "zh": "z"], nil, "t", true), ("fr", ["?": "x"], "??", "H", true),
        ] as [(String, [String: String], String?, String, Bool)])
    func `a missing translation is filled by the chain, and the result says so`(
        reader: String, headlines: [String: String], own: String?, text: String, isFilled: Bool
    ) throws {
        let settings = Localization(
            languages: [.init(code: reader, name: "X")]
                + (reader == "en" ? [] : [.init(code: "en", name: "English")]), fallback: ["en"])
        let event = NewsEvent(
            id: "1", headline: "H", language: own,
            headlines: headlines.sorted { $0.key < $1.key }.map { .init(language: $0.key, text: $0.value) })
        #expect(try texts(event, settings)["News_X"] == text)
        let builder = try PayloadBuilder(PayloadSettings(localization: settings))
        #expect(builder.filled(for: event, on: .template).contains(reader) == isFilled)
        #expect(builder.filled(for: event, on: .apple).isEmpty)
    }

    @Test func `no reader gets an empty text, whatever an event holds`() throws {
        for headlines in [[], [NewsEvent.Headline(language: "de", text: "d")], [.init(language: "", text: "x")]] {
            for language in [nil, "en", "tlh", "?"] {
                let event = NewsEvent(id: "1", headline: "H", language: language, headlines: headlines)
                for (property, text) in try texts(event) { #expect(!text.isEmpty, "\(property)") }
            }
        }
    }

    @Test func `a text may have a message around it, and a test is marked in every language`() throws {
        var settings = Self.three
        settings.message = "{{language}} {{category}}: {{headline}}"
        var event = NewsEvent(id: "1", headline: "H", headlines: [.init(language: "fr", text: "F")])
        #expect(try texts(event, settings)["News_French"] == "fr World: F")
        event.isTest = true
        #expect(try texts(event).values.allSatisfy { $0.hasPrefix("TEST ") })
    }

    @Test func `twenty languages of the greatest length fit, cut to what a phone takes`() throws {
        let languages = (0..<Localization.languagesMax).map { number in
            Localization.Language(code: "l\(Unicode.Scalar(UInt8(97 + number)))", name: "L\(number)")
        }
        let long = String(repeating: "\u{1}é\"", count: 1_300)
        var event = PayloadSamples.event(headline: long)
        event.headlines = languages.map { .init(language: $0.code, text: long) }
        event.data = (0..<64).map { .init(name: "d\($0)", value: long) }
        let payload = try payload(event, Localization(languages: languages))
        #expect(payload.request.body.count <= 65_536)
        #expect(payload.cuts.contains(.message))
        let body = try #require(PayloadSamples.json(payload.request.body))
        for language in languages {
            let text = try #require(body["News_\(language.name)"] as? String)
            #expect(text.hasSuffix("…") && JSONEncoding.length(of: text) <= 1_536)
        }
        event.headline = "short"
        event.headlines = []
        event.data = []
        #expect(try self.payload(event, Localization(languages: languages)).cuts.isEmpty)
    }

    @Test func `an event's own value cannot stand in a language's place`() throws {
        var event = NewsEvent(id: "1", headline: "H")
        event.data = [.init(name: "NEWS_french", value: "mine"), .init(name: "edition", value: "AM")]
        let payload = try payload(event)
        let body = try #require(PayloadSamples.json(payload.request.body))
        #expect(body["NEWS_french"] == nil && body["edition"] as? String == "AM")
        #expect(payload.cuts == .reservedData)
    }

    @Test(
        arguments: [
            ("en", "H"), (nil, "H"), ("fr-CA", "H"), ("de", "E"),
        ] as [(String?, String)])
    func `a native notification has one text: the event's own, or the fallback's if nobody reads that`(
        language: String?, text: String
    ) throws {
        let event = NewsEvent(
            id: "1", headline: "H", language: language,
            headlines: [.init(language: "en-GB", text: "E"), .init(language: "fr", text: "F")])
        let body = try payload(event, on: .apple, message: "{{headline}}").request.body
        #expect(PayloadSamples.message(in: body, of: .apple) == text)
    }

    @Test(arguments: [
        (Localization(property: "News", languages: three.languages), "property", "has no {language}"),
        (
            Localization(property: "{language}", languages: [.init(code: "en", name: "Title")]), "languages.en",
            "meaning"
        ),
        (
            Localization(property: "{language}", languages: [.init(code: "en", name: "messageparam")]), "languages.en",
            "meaning"
        ),
        (Localization(languages: [.init(code: "en", name: "a b")]), "languages.en", "cannot be the name of a property"),
        (Localization(languages: [.init(code: "fr", name: "Français")]), "languages.fr", "cannot be the name"),
        (
            Localization(languages: [.init(code: "en", name: "X"), .init(code: "fr", name: "x")]), "languages.fr",
            "same property as en"
        ),
        (
            Localization(languages: [.init(code: "en", name: "A"), .init(code: "EN", name: "B")]), "languages.EN",
            "once"
        ),
        (Localization(languages: [.init(code: "e n", name: "A")]), "languages.e n", "not a language code"),
        (Localization(languages: []), "languages", "names no language"),
        (
            Localization(
                languages: (0...20).map { .init(code: "l\(Unicode.Scalar(UInt8(97 + $0)))", name: "N\($0)") }),
            "languages", "at most 20"
        ),
        (Localization(languages: three.languages, fallback: ["en", "de"]), "fallback", "'de' is not one of"),
        (Localization(message: "{{nonsense}}", languages: three.languages), "message", "is not a variable"),
        (Localization(mode: .tags, tag: "{language}", languages: three.languages), "tag", "has no {category}"),
        (Localization(mode: .tags, tag: "{category}", languages: three.languages), "tag", "has no {language}"),
        (
            Localization(mode: .expression, tag: "{category}_{language}", languages: three.languages), "tag",
            "{category}"
        ),
        (Localization(mode: .tags, tag: "{category} {language}", languages: three.languages), "tag", "cannot be a tag"),
    ])
    func `settings that cannot be right are refused with their place`(
        settings: Localization, key: String, says: String
    ) {
        let problems = settings.problems
        #expect(problems.map { $0.path.dropFirst().joined(separator: ".") }.contains(key), "\(problems)")
        #expect(problems.contains { "\($0.message); \($0.remedy)".contains(says) }, "\(problems)")
        #expect(problems.allSatisfy { $0.path.first == "localization" && !$0.remedy.isEmpty })
    }

    @Test func `settings as the design has them are sound`() {
        #expect(Self.three.problems.isEmpty)
        for mode in Localization.Mode.allCases {
            #expect(Localization(mode: mode, languages: Self.three.languages, fallback: ["FR"]).problems.isEmpty)
        }
    }
}

/// The length of a text in JSON, by Foundation's writer.
private enum JSONEncoding {
    static func length(of text: String) -> Int {
        ((try? JSONSerialization.data(withJSONObject: [text], options: .withoutEscapingSlashes))?.count ?? 0) - 4
    }
}
