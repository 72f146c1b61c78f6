import Feeds
import NewsModel
import Testing

struct NinjsTests {
    private let item = #"""
        {"uri": "urn:1", "version": "2", "versioncreated": "2026-11-21T12:00:00Z", "type": "text", "language": "en",
         "pubstatus": "usable", "urgency": 2, "headline": "A \"quoted\" {head", "description_text": "S",
         "embargoed": "2026-11-21T12:00:00Z", "ednote": "Check.", "byline": "Ann", "subject": [{"code": "medtop:04000000"}]}
        """#

    @Test func `the properties of an item reach its entry`() throws {
        let document = try NewsSample.read(item)
        let entry = try #require(document.entries.first)
        #expect(document.format == .ninjs)
        #expect(document.entries.count == 1)
        #expect(entry.id == "urn:1")
        #expect(entry.headline == "A \"quoted\" {head")
        #expect(entry.summary == "S")
        #expect(entry.version?.text == "2")
        #expect(entry.urgency == 2)
        #expect(entry.publishedAt == Instant(milliseconds: 1_795_262_400_000) && entry.updatedAt == entry.publishedAt)
        #expect(entry.embargo == .until(Instant(milliseconds: 1_795_262_400_000)))
        #expect(entry.subjects == ["medtop:04000000"])
        #expect(entry.editorialNote == "Check.")
        #expect(entry.author == "Ann")
        #expect(entry.itemClass == "text")
    }

    @Test func `the items of an array become entries, and a bad one does not affect the others`() throws {
        let document = try NewsSample.read(
            "[\(item), {\"uri\": \"urn:2\"}, {\"uri\": \"urn:3\", \"headline\": \"C\", \"type\": \"picture\"}, 4, {\"uri\":"
        )
        #expect(document.entries.map(\.id) == ["urn:1", "urn:3"])
        #expect(document.entries.map(\.isStory) == [true, false])
        #expect(document.skipped.map(\.id) == ["urn:2", nil])
        #expect(document.isCutOff)
    }

    @Test(arguments: [("]", false), (" ]\n", false), (",", true), ("", true), (", {", true)])
    func `an array without an end was cut off`(end: String, isCutOff: Bool) throws {
        #expect(try NewsSample.read("[\(item)\(end)").isCutOff == isCutOff)
    }

    @Test func `a single item and an object with a list are not cut off`() throws {
        #expect(try !NewsSample.read(item).isCutOff)
        #expect(try !NewsSample.read(#"{"_items": [\#(item)]}"#).isCutOff)
    }

    @Test(arguments: [#"{"uri": "urn:1", "headline": "A\#u{0B}B"}"#, #"[{"uri": "urn:1", "headline": "A\#u{0B}B"}]"#])
    func `a control character is repaired in a single item and in an array`(text: String) throws {
        let document = try NewsSample.read(text)
        #expect(document.entries.map(\.headline) == ["A B"])
        #expect(document.skipped.isEmpty)
    }

    @Test(arguments: [
        #""pubstatus": "hold""#, #""pubstatus": "Withheld""#, #""embargoed": "2030-01-01""#, #""embargoed": "soon""#,
        #""pubstatus": ["withheld"]"#, #""pubstatus": 4"#, #""pubStatus": {"literal": "stat:withheld"}"#,
        #""embargoed": 4070908800"#, #""embargoedUntil": {"until": "2099-01-01T00:00:00Z"}"#, #""embargoed": true"#,
    ])
    func `an item whose status or embargo cannot be read is withheld`(member: String) throws {
        let document = try NewsSample.read(#"[{"uri": "urn:1", "headline": "A", "version": "2", \#(member)}]"#)
        let entry = try #require(document.entries.first)
        #expect(entry.status == .withheld && entry.id == "urn:1" && entry.version?.text == "2" && entry.headline == "A")
        #expect(document.skipped.isEmpty)
    }

    @Test(arguments: [
        #""subject": "politics""#, #""urgency": """#, #""versioncreated": 1796063450"#, #""expires": "never""#,
        #""version": "3""#, #""headline": null"#,
    ])
    func `an item under embargo of which another member cannot be read is an entry that cannot become an event`(
        member: String
    ) throws {
        let end = "2099-01-01T00:00:00Z"
        let document = try NewsSample.read(
            #"[{"uri": "urn:1", "version": "2", "headline": "A", "embargoed": "\#(end)", \#(member)}]"#)
        let entry = try #require(document.entries.first)
        #expect(entry.embargo == Instant(rfc3339: end).map { .until($0) })
        #expect(entry.version?.text.isEmpty == false && entry.status == .usable)
        #expect(throws: NotAnEvent.self) { try entry.newsEvent(id: "urn:1") }
        #expect(document.skipped.isEmpty)
    }

    @Test func `a blank embargo withholds an item that has another fault`() throws {
        let item = #"{"uri": "urn:1", "headline": "A", "embargoed": " ", "subject": "politics"}"#
        #expect(try NewsSample.read(item).entries.map(\.status) == [.withheld])
    }

    @Test(arguments: ["embargoed", "embargoedUntil"])
    func `an empty embargo has no end`(name: String) throws {
        let document = try NewsSample.read(#"{"uri": "urn:1", "headline": "A", "\#(name)": ""}"#)
        #expect(document.entries.map(\.embargo) == [.untilFurtherNotice])
    }

    @Test(arguments: ["", #", "headline": "A", "urgency": "high""#])
    func `a canceled item is a recall despite other faults`(members: String) throws {
        let document = try NewsSample.read(#"{"uri": "urn:1", "version": "3", "pubStatus": "canceled"\#(members)}"#)
        #expect(document.entries.map(\.id) == ["urn:1"])
        #expect(document.entries.map(\.status) == [.canceled])
        #expect(document.entries.first?.version?.text == "3")
        #expect(try document.entries.first?.newsEvent(id: "urn:1").status == .canceled)
    }

    @Test func `Superdesk's items are read, with guid for uri and offsets without a colon`() throws {
        let superdesk = #"""
            {"guid": "urn:newsml:localhost:2026:1", "version": "3", "type": "text", "versioncreated": "2026-11-21T12:00:00+0000",
             "firstcreated": "2026-11-21T13:30:00+0130", "embargoed": "2026-11-21T13:00:00+0100", "pubstatus": "usable",
             "headline": "A", "urgency": 3}
            """#
        for text in [
            superdesk, "[\(superdesk)]", #"{"_items": [\#(superdesk)], "_meta": {"total": 1}}"#,
            #"{"items": [\#(superdesk)]}"#,
        ] {
            let document = try NewsSample.read(text)
            #expect(document.format == .ninjs)
            let entry = try #require(document.entries.first)
            #expect(entry.id == "urn:newsml:localhost:2026:1" && entry.headline == "A")
            #expect(entry.publishedAt == Instant(milliseconds: 1_795_262_400_000))
            #expect(entry.embargo == .until(Instant(milliseconds: 1_795_262_400_000)))
            #expect(document.entries.count == 1 && document.skipped.isEmpty)
        }
    }

    @Test(arguments: [
        #"[{"error":"quota"}]"#, #"{"error":"quota"}"#, #"{"items":[{"error":"quota"}]}"#,
        #"{"_items":[{"error":"quota"}]}"#,
        #"[{"error":"quota"},{"error":"again"}]"#, #"{"message":"no","items":null}"#,
    ])
    func `JSON without an item is not a feed`(text: String) {
        #expect(throws: NotAFeed.self) { try NewsSample.read(text) }
    }

    @Test(arguments: [#"{"_items":[]}"#, #"{"version":"https://jsonfeed.org/version/1.1","items":[]}"#])
    func `an empty list of items is an empty feed`(text: String) throws {
        #expect(try NewsSample.read(text).entries.isEmpty)
    }

    @Test(arguments: ["[]", " [\n\t] \r\n"])
    func `an empty array is an empty ninjs feed`(text: String) throws {
        let document = try NewsSample.read(text)
        #expect(document.format == .ninjs)
        #expect(document.entries.isEmpty && document.skipped.isEmpty)
    }

    @Test(arguments: ["[1, 2]", "[", "[{}]", "[null]", "[[]]", "[] []"])
    func `an array without items is not a feed`(text: String) {
        #expect(throws: NotAFeed.self) { try NewsSample.read(text) }
    }
}
