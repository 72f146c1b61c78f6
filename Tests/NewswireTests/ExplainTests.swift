import ByteText
import Foundation
import NewsModel
import NewswireCommands
import NewswireSettings
import Testing

struct ExplainTests {
    private static let settings = """
        kafka: {bootstrapServers: ["127.0.0.1:9092"]}
        lanes: {live: {topics: [news.events], maxAge: 15m}, backfill: {topics: [news.backfill]}}
        environment: production
        test: {tag: staff}
        payload: {templates: {normal: breakingNews, quiet: breakingNewsQuiet}}
        quiet: [{categories: [World], from: "22:00", to: "07:00", zone: Europe/Berlin, exceptUrgency: 2}]

        """

    private func reader(_ more: String = "", at: String = "2026-11-22T12:00:00Z", lane: Int = 0) throws
        -> EventExplanation.Reader
    {
        let loaded = LoadedSettings(Self.settings + more, leavingOut: ["hub"])
        let settings = try #require(loaded.settings, "\(loaded.problems)")
        return try EventExplanation.Reader(settings, lane: lane, at: try #require(Instant(rfc3339: at)))
    }

    private struct Explained: Decodable {
        struct Reason: Decodable, Equatable {
            var category: String
            var because: String
        }
        struct Request: Decodable {
            var platform: String
            var headers: [String: String]
            var body: String
            var cut: [String]?
        }
        var eventId: String?
        var outcome: String
        var because: String
        var routing: [Reason]
        var interests: [String]?
        var sends: Int?
        var tagExpression: String?
        var quiet: String?
        var test: Bool?
        var filled: [String]?
        var format: String?
        var mapped: [[String: String]]?
        var requests: [Request]
    }

    private func read(_ explanation: EventExplanation) throws -> Explained {
        try JSONDecoder().decode(Explained.self, from: Data(explanation.json.utf8))
    }

    @Test func `interests are explained with their tags, and each send with what was cut`() throws {
        var reader = try reader(#"interests: {team: {}, author: {tag: "by-{id}", from: /authors/*/id}}"#)
        let interests = #""interests":["team:bvb","player:9"],"authors":[{"id":4711}]"#
        let explanation = reader.explain(Array(#"{"id":"1","headline":"h","category":"sport",\#(interests)}"#.utf8))
        let explained = try read(explanation)
        #expect(explained.outcome == "accepted" && explained.interests == ["team:bvb", "author:4711"])
        #expect(explained.tagExpression == "(Sports || team_bvb || by-4711) && breakingNews" && explained.sends == nil)
        #expect(explained.requests.first?.cut == ["interest player:9: unknown kind"])
        #expect(explanation.text(hasColours: false).contains("  followers of team:bvb, author:4711\n"))
        let teams = (1...12).map { "\"team:\($0)\"" }.joined(separator: ",")
        let several = reader.explain(Array(#"{"id":"2","headline":"h","interests":[\#(teams)]}"#.utf8))
        #expect(try read(several).sends == 3)
        #expect(
            try read(several).requests.map { $0.headers["ServiceBusNotification-Tags"] } == [
                "(team_1 || team_2 || team_3 || team_4 || team_5) && breakingNews",
                "(team_6 || team_7 || team_8 || team_9 || team_10) && breakingNews",
                "(team_11 || team_12) && breakingNews",
            ])
        let nobody = try read(reader.explain(Array(#"{"id":"3","headline":"h","interests":["player:9"]}"#.utf8)))
        #expect(nobody.outcome == "unroutable" && nobody.requests.isEmpty)
    }

    private static let cms = """
        events:
          formats:
            - name: cms
              when: {header: {content-type: application/vnd.cms+json}}
              map: {id: /articleId, headline: [/teaser, /title], category: /section, users: /readers, urgency: {from: /p, values: {flash: 1}}}

        """

    @Test func `an event of an own format is explained field by field, and readers by their pseudonyms`() throws {
        var reader = try reader(Self.cms)
        let headers = [RecordHeader("content-type", "application/vnd.cms+json")]
        let json = #"{"articleId": 7, "title": "Harbour reopens", "section": "World", "readers": ["anna"]}"#
        let explanation = reader.explain(Array(json.utf8), headers: headers)
        let explained = try read(explanation)
        #expect(explained.outcome == "accepted")
        #expect(explained.format == "cms")
        let mapped = try #require(explained.mapped)
        #expect(mapped.map { $0["member"] } == ["id", "headline", "category", "users"])
        #expect(mapped.map { $0["pointer"] } == ["/articleId", "/title", "/section", "/readers"])
        #expect(mapped[1]["value"] == "Harbour reopens")
        #expect(mapped[3]["value"]?.hasPrefix("user:") == true && !explanation.json.contains("anna"))
        let text = explanation.text(hasColours: false)
        #expect(text.contains("  format cms\n    id: /articleId gave 7\n    headline: /title gave Harbour reopens\n"))
        let bad = reader.explain(Array(#"{"articleId": 8, "title": "h", "p": "x"}"#.utf8), headers: headers)
        #expect(try read(bad).outcome == "undecodable")
        #expect(
            try read(bad).because == "format cms, urgency from /p: “x” has no entry under values, and there is no else")
        let builtIn = reader.explain(Array(#"{"id": "a", "headline": "h", "category": "World"}"#.utf8))
        #expect(try read(builtIn).format == nil && read(builtIn).mapped == nil)
    }

    @Test(
        arguments: [
            ("properties", "World && breakingNews", ["zh"]), ("tags", "World_en && breakingNews", nil),
            ("expression", "World && language_en && breakingNews", nil),
        ] as [(String, String, [String]?)])
    func `an event is explained in its languages, with those that were filled`(
        mode: String, tags: String, filled: [String]?
    ) throws {
        var reader = try reader(
            "localization: {mode: \(mode), languages: {en: English, fr: French, zh: Mandarin}, fallback: [en]}\n")
        let explanation = reader.explain(
            Array(
                #"{"id":"a","headline":"Vote","category":"World","language":"en-GB","headlines":{"fr":"Vote !"},"environment":"production"}"#
                    .utf8))
        let explained = try read(explanation)
        #expect(explained.tagExpression == tags)
        #expect(explained.filled == filled)
        #expect(explained.requests.first?.body.contains(#""News_French":"Vote !""#) == (filled != nil))
        #expect(explanation.text(hasColours: false).contains("filled from the fallback: zh") == (filled != nil))
    }

    @Test func `an event is explained up to its exact requests, without the key`() throws {
        var reader = try reader()
        let explained = try read(
            reader.explain(Array(#"{"id":"a","headline":"Vote","subjects":["medtop:20000574"],"story":"s"}"#.utf8)))
        #expect(explained.eventId == "a")
        #expect(explained.outcome == "accepted")
        #expect(
            explained.routing == [.init(category: "Politics", because: "subject medtop:20000574 under medtop:11000000")]
        )
        #expect(explained.tagExpression == "Politics && breakingNews")
        let request = try #require(explained.requests.first)
        #expect(explained.requests.count == 1)
        #expect(request.platform == "template")
        #expect(request.headers["ServiceBusNotification-Tags"] == "Politics && breakingNews")
        #expect(request.headers["apns-collapse-id"] == "s")
        #expect(request.headers["Authorization"] == nil)
        #expect(request.body.contains(#""messageParam":"Breaking Politics News : Vote""#))
    }

    struct Case: Sendable {
        var event: String
        var at = "2026-11-22T12:00:00Z"
        var outcome: String
        var says: String
    }

    @Test(arguments: [
        Case(event: #"{"id":"a"}"#, outcome: "undecodable", says: "headline"),
        Case(event: #"{"id":"a","headline":"b","category":"Gossip"}"#, outcome: "unroutable", says: "Gossip"),
        Case(
            event: #"{"id":"a","headline":"b","category":"World","environment":"staging"}"#, outcome: "withheld",
            says: "staging"),
        Case(
            event: #"{"id":"a","headline":"b","category":"World","status":"withheld"}"#, outcome: "withheld",
            says: "status"),
        Case(
            event: #"{"id":"a","headline":"b","category":"World","embargoUntil":"2026-11-25T06:00:00Z"}"#,
            outcome: "held",
            says: "2026-11-25T06:00:00"),
        Case(
            event: #"{"id":"a","headline":"b","category":"World","expiresAt":"2026-11-22T11:00:00Z"}"#,
            outcome: "expired",
            says: "expiresAt"),
        Case(event: #"{"id":"a","headline":"b","category":"World","test":true}"#, outcome: "accepted", says: "testers"),
        Case(
            event: #"{"id":"a","headline":"b","category":"World"}"#, at: "2026-11-22T22:30:00Z", outcome: "accepted",
            says: "without a sound"),
    ])
    func `every outcome has a reason`(_ example: Case) throws {
        var reader = try reader(at: example.at)
        let explained = try read(reader.explain(Array(example.event.utf8)))
        #expect(explained.outcome == example.outcome)
        #expect(explained.because.contains(example.says), "\(explained.because)")
        #expect(explained.requests.isEmpty == (example.outcome != "accepted"))
    }

    @Test func `a held event shows neither requests nor its headline`() throws {
        var reader = try reader()
        let event = #"{"id":"a","headline":"Secret","category":"World","embargoUntil":"2026-11-25T06:00:00Z"}"#
        let explanation = reader.explain(Array(event.utf8))
        #expect(!explanation.json.contains("Secret"))
        #expect(!explanation.text(hasColours: false).contains("Secret"))
    }

    @Test func `a body of the operator is shown as it is sent`() throws {
        let loaded = LoadedSettings(
            """
            kafka: {bootstrapServers: ["127.0.0.1:9092"]}
            lanes: {live: {topics: [news.events]}}
            payload: {mode: native, platforms: [apple], native: {apple: {body: {aps: {alert: "{{headline}}", badge: 1}}}}}

            """, leavingOut: ["hub"])
        let settings = try #require(loaded.settings, "\(loaded.problems)")
        var reader = try EventExplanation.Reader(
            settings, lane: 0, at: try #require(Instant(rfc3339: "2026-11-22T12:00:00Z")))
        let explanation = reader.explain(
            Array(#"{"id":"a","headline":"b","category":"World","data":{"sound":"x"}}"#.utf8))
        #expect(explanation.json.contains(#""body":"{\"aps\":{\"alert\":\"b\",\"badge\":1}}""#), "\(explanation.json)")
        // The built-in body would put it beside aps.
        #expect(!explanation.json.contains("data.sound"))
    }

    @Test func `events of a file are decided one after the other`() throws {
        var reader = try reader()
        let event = Array(#"{"id":"a","headline":"b","category":"World"}"#.utf8)
        #expect(try read(reader.explain(event)).outcome == "accepted")
        #expect(try read(reader.explain(event)).outcome == "duplicate")
        // Each event is explained independently, even if many of them fail.
        for number in 0..<200 {
            let bad = Array(#"{"id":"\#(number)","headline":"b","category":"Gossip"}"#.utf8)
            #expect(try read(reader.explain(bad)).outcome == "unroutable")
        }
    }

    @Test func `the program explains a file for people and for programs`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "newswire-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (config, events) = (folder.appending(path: "newswire.yaml"), folder.appending(path: "events.ndjson"))
        try Data((Self.settings + "hub: {connectionString: \"${NOT_SET}\"}\n").utf8).write(to: config)
        try Data(
            """
            {"id":"a","headline":"First","category":"Sports"}
            no event
            {"id":"b","headline":"Second","category":"World"}

            """.utf8
        ).write(to: events)
        let arguments = [
            "explain", "--config", config.path, events.path, "--at", "2026-11-22T23:30:00+01:00",
        ]
        let text = try await Program.run(arguments)
        #expect(text.status == 0, "\(text.errors)")
        #expect(text.output.contains("a: sent, nothing is against it"))
        #expect(text.output.contains("b: sent, without a sound"))
        let lines = try await Program.run(arguments + ["--json"]).output.split(separator: "\n")
        #expect(lines.count == 3)
        #expect(lines[1].contains("undecodable"))
        let wrong = try await Program.run(["explain", "--config", config.path, events.path, "--lane", "nope"])
        #expect(wrong.status == 64)
    }
}
