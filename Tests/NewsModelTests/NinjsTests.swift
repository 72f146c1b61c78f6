import Foundation
import NewsModel
import Testing

@Test func `a ninjs 1.4 document is read`() throws {
    let event = try decode(example("ninjs-1.4.json"))
    var expected = NewsEvent(
        id: "https://agency.example.org/items/20261121-0007", headline: "Village choir wins the northern prize")
    expected.summary = "Forty singers, none of them trained."
    expected.subjects = ["medtop:20000018"]
    expected.categories = ["Culture"]
    expected.language = "en"
    expected.urgency = 3
    expected.version = NewsEvent.Version("3")
    expected.publishedAt = Instant(rfc3339: "2026-11-21T07:30:00Z")
    expected.link = "https://agency.example.org/items/20261121-0007"
    expected.image = "https://agency.example.org/pictures/7-small.jpg"
    #expect(event == expected)
}

@Test func `a ninjs 2.1 document is read`() throws {
    let event = try decode(example("ninjs-2.1.json"))
    #expect(event.headline == "Im Westen fällt der erste Regen seit acht Wochen")
    #expect(event.summary == "Die Bauern atmen auf.")
    #expect(event.subjects == ["medtop:17000000"])
    #expect(event.status == .withheld)
    #expect(event.embargoUntil == Instant(rfc3339: "2026-11-21T08:00:00Z"))
    #expect(event.link == nil)
}

@Test func `a ninjs 3.0 event is read`() throws {
    let event = try decode(example("ninjs-3.0.json"))
    #expect(event.headline == "Summit on river navigation")
    #expect(event.summary == "Ministers of nine countries meet for two days.")
    #expect(event.subjects == ["medtop:20000638"])
    #expect(event.expiresAt == Instant(rfc3339: "2026-12-02T00:00:00Z"))
    #expect(event.version?.text == "2")
}

@Test(arguments: [
    (#""headlines":[{"role":"short","value":"s"},{"role":"main","value":"m"}],"title":"t""#, "m"),
    (#""headlines":[{"role":"main","value":" "},{"value":"v"}]"#, "v"),
    (#""headlines":[],"title":"t","slugline":"s""#, "t"),
    (#""headline_xhtml":"<p>x</p>","headline_de":"d","headline_en":"e","slugline":"s""#, "d"),
    (#""slugline":"s","headlines":null"#, "s"),
    (#""headline":"h","headlines":[{"role":"main","value":"m"}]"#, "h"),
])
func `the headline is the best text available`(members: String, headline: String) throws {
    #expect(try decode(#"{"uri":"u",\#(members)}"#).headline == headline)
}

@Test(
    arguments: [
        (#"{"name":"Politics","uri":"http://cv.ap.org/id/20000638"}"#, [], ["Politics"]),
        (#"{"name":"Politics","code":"20000638","scheme":"http://cv.ap.org/"}"#, [], ["Politics"]),
        (#"{"name":"Politics","code":"20000638"}"#, ["medtop:20000638"], []),
        (#"{"name":"Politics","literal":"medtop:20000638","uri":"urn:x"}"#, ["medtop:20000638"], []),
        (#"{"name":"Politics","code":"20000638","scheme":"medtop"}"#, ["medtop:20000638"], []),
        (#"{"code":"x"}"#, [], []),
    ] as [(String, [String], [String])])
func `a subject is a media topic or else a name`(subject: String, subjects: [String], categories: [String]) throws {
    let event = try decode(#"{"uri":"u","title":"t","subject":[\#(subject)]}"#)
    #expect(event.subjects == subjects)
    #expect(event.categories == categories)
}

@Test func `without a version, the time of the version takes its place`() throws {
    let event = try decode(#"{"uri":"u","title":"t","versioncreated":"2026-11-21T02:00:00+01:00"}"#)
    #expect(event.version?.text == "2026-11-21T01:00:00.000Z")
    #expect(event.publishedAt == Instant(rfc3339: "2026-11-21T01:00:00Z"))
}

@Test func `unusable pictures are left out, the item is kept`() throws {
    for renditions in [
        "7", #"[7]"#, #"[{"href":7}]"#, #"{"main":{"href":"ftp://x"}}"#,
        #"[{"href":"http://x","mimetype":"video/mp4"}]"#,
    ] {
        #expect(try decode(#"{"uri":"u","title":"t","renditions":\#(renditions)}"#).image == nil)
    }
}

@Test func `the name of the standard decides the format, then the members`() throws {
    let both = #""id":"i","uri":"u","headline":"h""#
    #expect(try decode("{\(both)}").id == "i")
    #expect(try decode(#"{\#(both),"standard":{"name":"ninjs","version":"3.0"}}"#).id == "u")
    #expect(try decode(#"{\#(both),"standard":{"name":"other"}}"#).id == "i")
}

private let agencyDocuments: [(file: String, id: String, headline: String)] = [
    (
        "1.4-ninjsExComplex1.json", "http://ninjs.example.com/newsitems/20130709cplx123",
        "Captain of wrecked cruise ship on trial in Italy"
    ),
    (
        "1.4-ninjsExSimpleText1.json", "http://ninjs.example.com/newsitems/20130709simp123",
        "Captain of wrecked cruise ship on trial in Italy"
    ),
    (
        "2.1-ap_image.json",
        "http://api.ap.org/media/v/content/b2b6c3f4642f46deac7509d4db315ca0?qt=H1Kdh42orF&et=0a1aza3c0",
        "Turkey Islamic State"
    ),
    (
        "2.1-businesswire-newsml-20130731006140.json", "http://www.businesswire.com/news/home/20130731006140/en",
        "Lunch Taking a Toll? Let Applebee’s® Industrial Strength Lunch Decoy Stand In"
    ),
    (
        "2.1-dpa_text.json", "urn:newsml:dpa.com:20090101:190510-99-167362",
        "Faktencheck Derby-Elfmeter: Hat Schiedsrichter Zwayer recht?"
    ),
    (
        "3.0-dpa_text.json", "urn:newsml:dpa.com:20090101:190510-99-167362",
        "Faktencheck Derby-Elfmeter: Hat Schiedsrichter Zwayer recht?"
    ),
    (
        "3.0-simpleEvent.json", "urn:newsml:addb.no:20110316:0002-ninjs3.0-addb--event-test",
        "Tackling Doping in Sport Conference"
    ),
]

@Test(
    .enabled(if: testData != nil, "set NEWSWIRE_TEST_DATA to a folder with ninjs documents"), arguments: agencyDocuments
)
func `documents of real agencies are decoded`(file: String, id: String, headline: String) throws {
    let folder = try #require(testData).appending(path: "ninjs")
    let event = try decode(Array(Data(contentsOf: folder.appending(path: file))))
    #expect(event.id == id)
    #expect(event.headline == headline)
    #expect(event.publishedAt != nil)
    #expect((event.link != nil) == id.hasPrefix("http"))
    #expect(event.status == .usable)
    switch file {
    case "1.4-ninjsExComplex1.json": #expect(event.image?.hasSuffix("-big.jpg") == true)
    case "2.1-ap_image.json":
        #expect(event.summary?.hasPrefix("FILE - In this Monday") == true)
        #expect(event.categories.contains("Government and politics"))
        #expect(event.image?.contains("preview.jpg") == true)
    default: break
    }
}

@Test(arguments: ["embargoed", "embargoedUntil", "embargoeduntil"])
func `an embargo without an end withholds the item`(name: String) throws {
    for blank in ["", " ", "\u{200b}"] {
        let event = try decode(#"{"uri":"u","headline":"h","\#(name)":"\#(blank)"}"#)
        #expect(event.status == .withheld)
        #expect(event.embargoUntil == .distantFuture)
    }
    let timed = try decode(#"{"uri":"u","headline":"h","\#(name)":"2026-11-21T08:00:00+01:00"}"#)
    #expect(timed.status == .usable)
    #expect(timed.embargoUntil == Instant(rfc3339: "2026-11-21T07:00:00Z"))
    #expect(try decode(#"{"uri":"u","headline":"h","\#(name)":null}"#).status == .usable)
    #expect(try decode(#"{"uri":"u","pubStatus":"canceled","\#(name)":""}"#).status == .canceled)
}

@Test(arguments: [
    #"{"uri":"u","version":"4","pubStatus":"canceled"}"#,
    #"{"uri":"u","version":"4","pubstatus":"cancelled","headline":""}"#,
    #"{"uri":"u","version":"4","pubStatus":"canceled","headline":"h","expires":"tomorrow"}"#,
    #"{"uri":"u","version":"4","pubStatus":"canceled","versionCreated":"yesterday","urgency":0}"#,
    #"{"uri":"u","version":"4","pubStatus":"canceled","headlines":[7],"subject":"x"}"#,
    #"{"id":"u","version":4,"status":"canceled"}"#,
    #"{"id":"u","version":4,"status":"canceled","headline":7,"category":"World","data":[]}"#,
    #"{"id":"u","version":4,"status":"cancelled","headline":"h","expiresAt":"tomorrow","urgency":99}"#,
])
func `a canceled item recalls whatever else is wrong with it`(document: String) throws {
    let event = try decode(document)
    #expect(event.id == "u")
    #expect(event.status == .canceled)
    #expect(event.version?.text == "4")
}

@Test(arguments: [
    #"{"id":"u","version":4,"status":"withheld","users":["r"]}"#,
    #"{"id":"u","version":4,"status":"withheld","headline":"","expiresAt":"tomorrow","users":["r"],"userId":7}"#,
    #"{"uri":"u","version":"4","pubStatus":"withheld"}"#,
    #"{"uri":"u","version":"4","pubStatus":"withheld","headline":"","user":"author"}"#,
])
func `an item is withheld whatever else is wrong with it`(document: String) throws {
    let event = try decode(document)
    #expect(event.id == "u")
    #expect(event.status == .withheld)
    #expect(event.version?.text == "4")
    #expect(event.users == (document.contains("users") ? ["r"] : []))
}

@Test(arguments: [
    (#"{"id":"u","status":"canceled","story":7}"#, "wrong-type"),
    (#"{"uri":"u","pubStatus":"killed"}"#, "unknown-status"),
])
func `a recall with an uncertain target is refused`(document: String, code: String) throws {
    #expect(try refusal(Array(document.utf8)).reason.rawValue == code)
}
