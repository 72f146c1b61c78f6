import NewsModel
import Testing

@Test func `an event with everything is read`() throws {
    let event = try decode(example("news-event.full.json"))
    var expected = NewsEvent(id: "2026-11-21-ferry", headline: "Ferry with 212 aboard reaches “Port Elena” safely")
    expected.categories = ["World", "Business"]
    expected.subjects = ["medtop:03000000", "medtop:04000000"]
    expected.summary = "All passengers are well, the operator says. The harbour reopens at noon."
    expected.language = "en"
    expected.urgency = 2
    expected.story = "ferry-elena"
    expected.version = NewsEvent.Version("1")
    expected.publishedAt = Instant(rfc3339: "2026-11-21T08:15:00.250Z")
    expected.expiresAt = Instant(rfc3339: "2026-11-21T21:00:00Z")
    expected.embargoUntil = Instant(rfc3339: "2026-11-21T08:30:00Z")
    expected.link = "https://news.example.com/world/ferry-elena"
    expected.image = "https://news.example.com/pictures/ferry-640.jpg"
    expected.data = [.init(name: "desk", value: "world"), .init(name: "edition", value: "noon")]
    #expect(event == expected)
}

@Test(arguments: [
    ("news-event.minimal.json", "wx-204", NewsEvent.Status.usable, nil),
    ("news-event.update.json", "2026-11-21-ferry", .usable, "ferry-elena"),
    ("news-event.withheld.json", "court-77", .withheld, nil),
    ("news-event.canceled.json", "2026-11-21-ferry-3", .canceled, "ferry-elena"),
    ("news-event.embargoed.json", "rates-2026-11", .usable, nil),
])
func `event examples are read`(name: String, id: String, status: NewsEvent.Status, story: String?) throws {
    let event = try decode(example(name))
    #expect(event.id == id)
    #expect(event.status == status)
    #expect(event.story == story)
    #expect((event.embargoUntil != nil) == name.contains("embargoed"))
}

@Test func `an encoded event reads back as it was, whatever its original format`() throws {
    for name in try examples() where !name.hasPrefix("control-") {
        guard !name.hasPrefix("news-result"), !name.hasPrefix("news-telemetry") else { continue }
        let event = try decode(example(name))
        var bytes: [UInt8] = []
        event.encode(into: &bytes)
        #expect(try decode(bytes) == event, "\(name)")
    }
}

@Test(arguments: ["", " "]) func `an event with a blank embargo is withheld`(embargo: String) throws {
    let json = #"{"id":"a","headline":"h","category":"World","embargoUntil":"\#(embargo)"}"#
    let event = try NewsDecoder().decode(SourceRecord(offset: 0, timestamp: nil, value: Array(json.utf8)))
    #expect(event.status == .withheld && event.embargoUntil == .distantFuture)
}

@Test(arguments: [
    ("CANCELED", NewsEvent.Status.canceled), ("Cancelled", .canceled), ("Withheld", .withheld), ("USABLE", .usable),
])
func `the case of a status does not count`(status: String, expected: NewsEvent.Status) throws {
    #expect(try decode(#"{"id":"a","headline":"b","status":"\#(status)"}"#).status == expected)
    #expect(try decode(#"{"uri":"a","headline":"b","pubStatus":"\#(status)"}"#).status == expected)
}

@Test func `null and blank values count as absent, unknown members are ignored`() throws {
    let event = try decode(
        #"{"x":[{"id":1}],"id":"a","headline":"b","category":null,"categories":null,"subjects":[],"summary":"","#
            + #""language":null,"urgency":null,"story":" ","version":null,"status":null,"publishedAt":null,"#
            + #""expiresAt":"","embargoUntil":null,"link":"","image":null,"data":{"k":null},"headlines":null,"publisher":7}"#
    )
    #expect(event == NewsEvent(id: "a", headline: "b"))
}

@Test(arguments: [
    ("2", "2"), (#""2""#, "2"), (#""2026-11-21""#, "2026-11-21"), ("18446744073709551615", "18446744073709551615"),
    ("2.0", "2"), ("1.5", "1.5"), ("-1", "-1"),
])
func `a version is text or a number`(json: String, text: String) throws {
    #expect(try decode(#"{"id":"a","headline":"b","version":\#(json)}"#).version?.text == text)
}

@Test func `urgency may be written as a whole decimal`() throws {
    #expect(try decode(#"{"id":"a","headline":"b","urgency":4.0}"#).urgency == 4)
}

@Test func `data keeps the document's order, and scalars become text`() throws {
    let event = try decode(
        #"{"id":"a","headline":"b","data":{"z":"1","a":2,"m":true,"f":false,"d":1.5,"n":null,"e":"","u":"ü\n"}}"#)
    #expect(
        event.data.map { "\($0.name)=\($0.value)" }
            == ["z=1", "a=2", "m=true", "f=false", "d=1.5", "e=", "u=ü\n"])
}

@Test(arguments: [
    (#"tab\tline\nreturn\r"#, "tab\tline\nreturn\r"), (#"a\u0000b\u001fc\u007fd\u000be"#, "a b c d e"),
    (#"\ud83d\ude00 \u00e9"#, "😀 é"), ("e\u{301} \u{FEFF}x", "e\u{301} \u{FEFF}x"),
    (#"\\u0041 &amp; <b>"#, #"\u0041 &amp; <b>"#), (#"a\u202eb\u2066c\u2069"#, "abc"),
    (#"a\u0085b\u009bc\u00a0"#, "a b c\u{A0}"),
    ("\u{201C}a\u{201D} \u{2013} \u{200E}\u{2065}b", "\u{201C}a\u{201D} \u{2013} \u{200E}\u{2065}b"),
])
func `a headline is kept as it is, except for control characters and those that turn text around`(
    json: String, headline: String
) throws {
    let read = try decode(#"{"id":"a","headline":"\#(json)"}"#).headline
    #expect(Array(read.utf8) == Array(headline.utf8))
}

@Test func `a byte order mark is ignored`() throws {
    #expect(try decode("\u{FEFF}" + #"{"id":"a","headline":"b"}"#).id == "a")
}

@Test(arguments: [
    ("9", "10"), ("1.5", "2"), ("1", "1.5"), ("9.5", "10.5"), ("-1", "0.5"), ("1795348800000", "1795348800000.5"),
    ("10", "9 a"),
    ("99.5", "2026-11-20"), ("2026-11-20", "2026-11-25"), ("a", "b"), ("1.2.9", "1.3.0"),
])
func `numbers compare as numbers, and come before all other texts`(older: String, newer: String) {
    let (older, newer) = (NewsEvent.Version(older), NewsEvent.Version(newer))
    #expect(older < newer && !(newer < older) && !(older < older))
}

@Test(arguments: [
    ("medtop:15000000", "medtop:15000000"), ("medtop:20000638", "medtop:20000638"), ("15000000", "medtop:15000000"),
    ("subj:15054000", "medtop:15000000"), ("15054000", "medtop:15000000"),
    ("http://cv.iptc.org/newscodes/mediatopic/20000756", "medtop:20000756"),
    ("https://cv.iptc.org/newscodes/subjectcode/04003005", "medtop:04000000"),
    ("http://cv.iptc.org/newscodes/genre/20000756", "http://cv.iptc.org/newscodes/genre/20000756"),
    ("99000000", "99000000"), ("medtop:1500000", "medtop:1500000"), ("sport", "sport"), ("x15000000", "x15000000"),
])
func `media topics are recognised in all spellings, others stay as written`(written: String, read: String) throws {
    #expect(try decode(#"{"id":"a","headline":"b","subjects":["\#(written)"]}"#).subjects == [read])
}

@Test func `a decoder keeps nothing from one record to the next`() throws {
    let decoder = NewsDecoder()
    let texts = [
        #"{"id":"a","headline":"b","urgency":1,"data":{"k":"v"},"story":"s"}"#, "[", #"{"uri":"u","title":"t"}"#,
        #"{"id":"c","headline":"d"}"#, #"{"headline":"d"}"#,
    ]
    let fresh = texts.map { NewsDecoder().attempt(record($0)) }
    for _ in 0..<3 { #expect(texts.map { decoder.attempt(record($0)) } == fresh) }
}

@Test func `versions are ordered: numbers as numbers, then times as times, then other texts`() {
    let ascending = [
        "-2", "1.5", "2", "10", "9007199254740993", "2026-10-24", "2026-10-25T02:30:00+02:00",
        "2026-10-25T02:15:00+01:00",
        "2026-10-25T03:00:00Z", "2026-10-25T03:00:00.5Z", "a", "b",
    ].map { NewsEvent.Version($0) }
    for (place, version) in ascending.enumerated() {
        for later in ascending[(place + 1)...] { #expect(version < later && !(later < version)) }
        #expect(!(version < version))
    }
    // One moment in two notations, in the order of the texts.
    let (local, universal) = (NewsEvent.Version("2026-10-25T03:00:00+01:00"), NewsEvent.Version("2026-10-25T02:00:00Z"))
    #expect(universal < local && !(local < universal))
}
