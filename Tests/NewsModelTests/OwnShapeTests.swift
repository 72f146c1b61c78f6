import NewsModel
import Testing

/// A format of a content management system with every kind of mapping.
private func cms(
    _ others: [MappedMember] = [], when condition: EventFormat.Condition = .init()
) throws -> EventFormat {
    let members = try [
        MappedMember(.id, [from("/articleId")]), MappedMember(.headline, [from("/teaser/title", "/title")]),
        MappedMember(.category, [from("/section/slug")]), MappedMember(.version, [from("/revision")]),
        MappedMember(.urgency, [from("/priority", values: ["flash": "1", "urgent": "2", "normal": "4"])]),
        MappedMember(
            .status, [from("/state", values: ["retracted": "canceled", "draft": "withheld"], else: "usable")]),
        MappedMember(.publishedAt, [from("/published", as: .milliseconds)]),
        MappedMember(.data, [from("/teaser/kicker", name: "kicker"), from("/authors/0/name", name: "author")]),
    ]
    let replaced = Set(others.map(\.member))
    return EventFormat(
        name: "cms", condition: condition, members: members.filter { !replaced.contains($0.member) } + others)
}

private func from(
    _ pointers: String..., name: String? = nil, values: [String: String]? = nil, else otherwise: String? = nil,
    as unit: MemberSource.TimeUnit? = nil
) throws -> MemberSource {
    MemberSource(
        name: name, pointers: try pointers.map { try #require(JSONPointer($0)) }, values: values, otherwise: otherwise,
        unit: unit)
}

private let article = """
    {"articleId": 4711, "title": "Long title", "teaser": {"title": "Harbour reopens", "kicker": "Port"}, "revision": 3,
     "section": {"slug": "World"}, "priority": "urgent", "state": "live", "published": 1795222923123,
     "authors": [{"name": "Ada", "id": 1}, {"name": "Bo", "id": 2}]}
    """

private func decode(
    _ json: String, _ format: EventFormat, headers: [RecordHeader] = [], topic: String? = nil
) throws -> NewsEvent {
    try NewsDecoder(formats: EventFormats([format])).decode(record(json, headers: headers), topic: topic)
}

private func refusal(_ json: String, _ format: EventFormat) throws -> Undecodable {
    try #require(throws: Undecodable.self) { try decode(json, format) }
}

@Test
func `a document of a newsroom's own shape becomes an event`() throws {
    let decoder = NewsDecoder(formats: EventFormats([try cms()]), collectsValues: true)
    let event = try decoder.decode(record(article))
    #expect(
        event
            == NewsEvent(
                id: "4711", headline: "Harbour reopens", categories: ["World"], urgency: 2, version: .init("3"),
                publishedAt: Instant(milliseconds: 1_795_222_923_123),
                data: [.init(name: "kicker", value: "Port"), .init(name: "author", value: "Ada")]))
    #expect(decoder.format == "cms")
    let values = decoder.mappedValues.map { "\($0.member) \($0.pointer ?? "-") \($0.value)" }
    #expect(
        values == [
            "id /articleId 4711", "status /state usable", "headline /teaser/title Harbour reopens",
            "category /section/slug World", "urgency /priority 2", "version /revision 3",
            "publishedAt /published 2026-11-21T01:02:03.123Z", "data.kicker /teaser/kicker Port",
            "data.author /authors/0/name Ada",
        ])
}

@Test
func `every member of an event can be mapped`() throws {
    let json = """
        {"id": "a", "headline": "h", "summary": "s", "category": "World", "categories": ["Politics"],
         "subjects": ["medtop:11000000"], "language": "en", "urgency": 3, "story": "t", "version": "2",
         "status": "withheld", "publishedAt": "2026-11-21T01:02:03.000Z", "expiresAt": "2026-11-22T01:02:03.000Z",
         "embargoUntil": "2026-11-21T02:02:03.000Z", "link": "https://a.example/", "image": "https://a.example/i",
         "environment": "staging", "test": true, "users": ["u1", "u2"], "data": {"a": "1"},
         "headlines": {"fr": "titre"}}
        """
    let format = EventFormat(
        name: "mirror", condition: .init(),
        members: try EventMember.allCases.map { MappedMember($0, [try from("/inner/\($0.rawValue)")]) })
    #expect(try decode(#"{"inner": \#(json)}"#, format) == NewsModelTests.decode(json))
}

@Test
func `lists take every element, or the only value, of the first pointer that finds any`() throws {
    let format = try cms([
        MappedMember(.category, [from("/none")]),
        MappedMember(.categories, [from("/empty", "/blank", "/authors/*/name")]),
        MappedMember(.users, [from("/reader")]), MappedMember(.subjects, [from("/topics")]),
    ])
    let json = """
        {"articleId": "a", "title": "h", "empty": [], "blank": " ", "authors": [{"name": "Ada"}, {}, {"name": 7}],
         "reader": 12, "topics": ["medtop:11000000", "other"]}
        """
    let event = try decode(json, format)
    #expect(event.categories == ["Ada", "7"])
    #expect(event.users == ["12"])
    #expect(event.subjects == ["medtop:11000000", "other"])
    #expect(try decode(#"{"articleId": "a", "title": "h", "empty": []}"#, format).categories == [])
}

@Test
func `a list of readers that is empty or blank is an error, and an absent one is not`() throws {
    let format = try cms([MappedMember(.users, [from("/readers")])])
    for readers in ["[]", "\" \"", "[\"\"]", "[null]", "{}", "[[\"a\"]]", "false", "[true]"] {
        let json = #"{"articleId": "a", "title": "h", "readers": \#(readers)}"#
        #expect(try refusal(json, format).reason == .badUsers, "\(readers)")
    }
    #expect(try decode(#"{"articleId": "a", "title": "h", "readers": null}"#, format).users == [])
}

@Test func `readers behind a star are all named, or the event is an error`() throws {
    for source in [try from("/readers/*/id"), try from("/readers/*/id", "/readers")] {
        let format = try cms([MappedMember(.users, [source])])
        for readers in [
            "[]", "[{\"id\": null}]", "[{\"x\": 1}]", "{\"id\": \"a\"}", "\"all\"", "false", "{}",
            "[{\"id\": \"a\"}, {\"id\": \"\"}]", "[{\"id\": \"a\"}, 7]", "[{\"id\": true}]",
        ] {
            let json = #"{"articleId": "a", "title": "h", "readers": \#(readers)}"#
            #expect(try refusal(json, format).reason == .badUsers, "\(readers)")
        }
        #expect(try decode(#"{"articleId": "a", "title": "h", "readers": null}"#, format).users == [])
        #expect(try decode(#"{"articleId": "a", "title": "h"}"#, format).users == [])
        let two = #"{"articleId": "a", "title": "h", "readers": [{"id": "a"}, {"id": 7}]}"#
        #expect(try decode(two, format).users == ["a", "7"])
    }
}

@Test(arguments: [(.seconds, 1), (.milliseconds, 1_000), (.microseconds, 1_000_000)] as [(MemberSource.TimeUnit, Int)])
func `a number of each unit is a time`(unit: MemberSource.TimeUnit, perSecond: Int) throws {
    let format = try cms([
        MappedMember(.expiresAt, [from("/until", as: unit)])
    ])
    let wanted = Instant(nanoseconds: 1_795_222_923_000_000_000)
    for until in ["\(1_795_222_923 * perSecond)", "\"\(1_795_222_923 * perSecond)\"", "\"2026-11-21T01:02:03Z\""] {
        let json = #"{"articleId": "a", "title": "h", "until": \#(until)}"#
        #expect(try decode(json, format).expiresAt == wanted, "\(until)")
    }
    let far = #"{"articleId": "a", "title": "h", "until": 9223372036854775807}"#
    #expect(try decode(far, format).expiresAt.map { $0 > wanted } == true)
    for bad in ["\"soon\"", "true", "[]", "{}"] {
        #expect(try refusal(#"{"articleId": "a", "title": "h", "until": \#(bad)}"#, format).reason == .badDate)
    }
}

@Test(
    arguments: [
        (#"{"articleId": "a"}"#, .missingHeadline, "headline from /teaser/title, /title: headline is missing or blank"),
        (#"{"title": "h"}"#, .missingID, "id from /articleId: id is missing or blank"),
        (
            #"{"articleId": "a", "title": "h", "priority": "huge"}"#, .unmappedValue,
            "urgency from /priority: “huge” has no entry under values, and there is no else"
        ),
        (
            #"{"articleId": "a", "title": "h", "priority": [1]}"#, .unmappedValue,
            "urgency from /priority: an array has no entry"
        ),
        (
            #"{"articleId": "a", "title": ["h"]}"#, .wrongType,
            "headline from /teaser/title, /title: headline must be a string"
        ),
        (
            #"{"articleId": "a", "title": "h", "authors": [{"name": {}}]}"#, .wrongType,
            "data from kicker from /teaser/kicker, author from /authors/0/name: data.author must be a string"
        ),
        (
            #"{"articleId": "a", "articleId": "b", "title": "h"}"#, .duplicateKey,
            "id from /articleId: “articleId” is given"
        ),
    ] as [(String, Undecodable.Reason, String)])
func `a document that cannot be mapped ends with the format and the pointer`(
    json: String, reason: Undecodable.Reason, detail: String
) throws {
    let error = try refusal(json, cms())
    #expect(error.reason == reason)
    #expect(error.detail.hasPrefix("format cms, " + detail), "\(error.detail)")
    #expect(error.format == "cms")
    #expect(
        error.eventID == (json.hasPrefix(#"{"articleId": "a", "title"#) ? "a" : json.contains("\"a\"}") ? "a" : nil))
}

@Test
func `a recall takes effect despite other errors, and an unknown state does not send`() throws {
    let recall = try decode(#"{"articleId": "a", "state": "retracted", "priority": "huge"}"#, cms())
    #expect(recall.status == .canceled)
    #expect(recall.id == "a")
    let strict = try cms([MappedMember(.status, [from("/state", values: ["live": "usable"])])])
    #expect(try refusal(#"{"articleId": "a", "title": "h", "state": "killed"}"#, strict).reason == .unmappedValue)
    // A blank embargo has no end, as in our own shape.
    let embargoed = try cms([MappedMember(.embargoUntil, [from("/embargo")])])
    let event = try decode(#"{"articleId": "a", "title": "h", "embargo": ""}"#, embargoed)
    #expect(event.status == .withheld)
    #expect(event.embargoUntil == .distantFuture)
}

@Test
func `else stands for an absent value, and without from for every document`() throws {
    let format = try cms([
        MappedMember(.environment, [MemberSource(pointers: [], otherwise: "staging")]),
        MappedMember(.test, [from("/rehearsal", values: ["yes": "true"], else: "false")]),
    ])
    #expect(try decode(article, format).environment == "staging")
    #expect(try !decode(article, format).isTest)
    #expect(try decode(#"{"articleId": "a", "title": "h", "rehearsal": "yes"}"#, format).isTest)
}

@Test
func `a format is chosen by topic, header and member, and other records have the built-in ones`() throws {
    var condition = EventFormat.Condition()
    condition.topic = "cms.articles"
    condition.headers = [.init(name: "Content-Type", value: "application/vnd.cms+json")]
    condition.member = JSONPointer("/type")
    condition.values = ["article", "7"]
    let format = try cms(when: condition)
    let header = RecordHeader("content-type", "Application/VND.cms+json; charset=utf-8")
    func id(_ type: String, _ headers: [RecordHeader], _ topic: String?) throws -> String {
        let json = #"{"id": "built-in", "headline": "h", "articleId": "own", "title": "h", "type": \#(type)}"#
        return try decode(json, format, headers: headers, topic: topic).id
    }
    #expect(try id("\"article\"", [header], "cms.articles") == "own")
    #expect(try id("7", [header], "cms.articles") == "own")
    #expect(try id("\"video\"", [header], "cms.articles") == "built-in")
    #expect(try id("null", [header], "cms.articles") == "built-in")
    #expect(try id("\"article\"", [], "cms.articles") == "built-in")
    #expect(try id("\"article\"", [.init("content-type", "text/plain")], "cms.articles") == "built-in")
    #expect(try id("\"article\"", [header], "news") == "built-in")
    #expect(try id("\"article\"", [header], nil) == "built-in")
}

@Test(
    arguments: [
        RecordHeader(HeaderName.format, HeaderName.builtInFormat), RecordHeader(HeaderName.feed, "bbc"),
        RecordHeader(HeaderName.replacement, "1"),
    ])
func `records that newswire wrote are in its own shape on any topic`(header: RecordHeader) throws {
    let decoder = NewsDecoder(formats: EventFormats([try cms()]))
    #expect(try decoder.decode(record(#"{"id": "a", "headline": "h"}"#, headers: [header])).id == "a")
    #expect(decoder.format == nil)
}

@Test
func `the first format that matches counts`() throws {
    var first = EventFormat.Condition()
    first.member = JSONPointer("/special")
    let special = EventFormat(
        name: "special", condition: first,
        members: [MappedMember(.id, [try from("/special")]), MappedMember(.headline, [try from("/title")])])
    let decoder = NewsDecoder(formats: EventFormats([special, try cms()]))
    #expect(try decoder.decode(record(#"{"special": 1, "articleId": 2, "title": "h"}"#)).id == "1")
    #expect(decoder.format == "special")
    #expect(try decoder.decode(record(#"{"articleId": 2, "title": "h"}"#)).id == "2")
}

// MARK: Records of a schema registry

private let framed: [UInt8] = [0, 0, 0, 0, 7]

@Test
func `an Avro record is read once its schema is known`() throws {
    let decoder = NewsDecoder(formats: EventFormats([try cms()], usesRegistry: true))
    let source = SourceRecord(offset: 0, value: framed + [2, 0x61, 2, 0x68, 0xAE, 0xC8, 0xF8, 0xB9, 0xFF, 0x67])
    let awaited = try #require(throws: Undecodable.self) { try decoder.decode(source) }
    #expect(awaited.awaitedSchema == 7)
    decoder.learn(
        7,
        .avro(
            try AvroSchema(
                """
                {"type": "record", "name": "A", "fields": [{"name": "articleId", "type": "string"},
                 {"name": "title", "type": ["null", "string"]},
                 {"name": "published", "type": {"type": "long", "logicalType": "timestamp-millis"}}]}
                """)))
    // A union's branch precedes its value.
    let value: [UInt8] = [2, 0x61, 2, 2, 0x68, 0xE6, 0xF2, 0xBE, 0xC0, 0xBF, 0x68]
    let event = try decoder.decode(SourceRecord(offset: 0, value: framed + value))
    #expect(event.id == "a")
    #expect(event.headline == "h")
    #expect(event.publishedAt != nil)
    #expect(decoder.format == "cms")
    let other = try #require(throws: Undecodable.self) { try decoder.decode(SourceRecord(offset: 0, value: framed)) }
    #expect(other.reason == .badAvro)
    #expect(other.awaitedSchema == nil)
}

@Test
func `JSON may stand behind the registry's bytes, in any format`() throws {
    let decoder = NewsDecoder(formats: EventFormats(usesRegistry: true), schemas: { $0 == 7 ? .json : nil })
    let json = Array(#"{"id": "a", "headline": "h"}"#.utf8)
    #expect(try decoder.decode(SourceRecord(offset: 0, value: framed + json)).id == "a")
    #expect(try decoder.decode(SourceRecord(offset: 0, value: json)).id == "a")
    #expect(decoder.format == nil)
}

@Test
func `an unusable schema makes its records undecodable, and an unknown one is asked for again`() throws {
    nonisolated(unsafe) var asked: [UInt32] = []
    let decoder = NewsDecoder(formats: EventFormats(usesRegistry: true)) { id in
        asked.append(id)
        return .unusable(Undecodable(id == 7 ? .unusableSchema : .unknownSchema, "no"))
    }
    func reason(_ id: UInt8) throws -> Undecodable.Reason {
        let record = SourceRecord(offset: 0, value: [0, 0, 0, 0, id, 1])
        return try #require(throws: Undecodable.self) { try decoder.decode(record) }.reason
    }
    #expect(
        try [reason(7), reason(7), reason(8), reason(8)] == [
            .unusableSchema, .unusableSchema, .unknownSchema, .unknownSchema,
        ])
    #expect(asked == [7, 8, 8])
    let short = try #require(throws: Undecodable.self) { try decoder.decode(SourceRecord(offset: 0, value: [0, 1])) }
    #expect(short.reason == .badAvro)
}

@Test
func `without a registry the error of its records names the setting`() throws {
    let error = try NewsModelTests.refusal(framed + [1, 2, 3])
    #expect(error.reason == .invalidJSON)
    #expect(error.detail.contains("schemaRegistry.url"))
}

@Test
func `documents of a mebibyte and of many levels are bounded in an own format`() throws {
    let deep = String(repeating: "[", count: 1_000)
    #expect(try refusal(#"{"articleId": "a", "title": \#(deep)"#, cms()).reason == .tooDeep)
    let long = String(repeating: "x", count: EventLimits.document - 100)
    #expect(try decode(#"{"articleId": "a", "title": "\#(long)"}"#, cms()).headline.utf8.count == EventLimits.headline)
    let many = "[" + Array(repeating: "1", count: 400_000).joined(separator: ",") + "]"
    let format = try cms([MappedMember(.categories, [from("/many/*")])])
    #expect(try refusal(#"{"articleId": "a", "title": "h", "many": \#(many)}"#, format).reason == .tooMany)
}
