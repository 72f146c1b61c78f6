import NewsModel
import Testing

/// An event's headline in several languages.
struct HeadlinesTests {
    @Test func `an event has its headline in the languages that its sender wrote`() throws {
        let event = try decode(example("news-event.languages.json"))
        #expect(event.headline == "Ferries run again from noon")
        #expect(event.headlines.map(\.language) == ["en", "fr", "zh-Hans"])
        #expect(event.headlines.map(\.text).last == "渡轮中午恢复运营")
    }

    @Test(arguments: [
        (#"{"fr":null,"de":" ","it":"Ciao"}"#, ["it"]), (#"{"":"x","en_GB":"Hello"}"#, ["en_GB"]),
        (#"{"Klingon spoken":"nuqneH"}"#, ["Klingon spoken"]), ("null", []), ("{}", []),
    ])
    func `blank texts count as absent, and a code that nobody knows does no harm`(json: String, languages: [String])
        throws
    {
        let event = try decode(#"{"id":"a","headline":"b","headlines":\#(json)}"#)
        #expect(event.headlines.map(\.language) == languages)
    }

    @Test(arguments: [
        (#"["b"]"#, "wrong-type", "headlines must be an object"),
        (#""b""#, "wrong-type", "headlines must be an object"),
        (#"{"fr":1}"#, "wrong-type", "headlines.fr must be a string"),
        (#"{"fr":"a","FR":"b"}"#, "duplicate-key", "more than once"),
        (#"{"fr-CA":"a","fr_ca":"b"}"#, "duplicate-key", "more than once"),
        (#"{"f\nr":"a"}"#, "control-character", "headlines.f"),
        ("{\"\(String(repeating: "x", count: 65))\":\"a\"}", "too-long", "at most 64"),
        (
            "{\((0...64).map { "\"x-\($0)\":\"a\"" }.joined(separator: ","))}", "too-many", "more than 64 members"
        ),
    ])
    func `an invalid headlines member is refused by name`(json: String, code: String, says: String) throws {
        let undecodable = try refusal(Array(#"{"id":"a","headline":"b","headlines":\#(json)}"#.utf8))
        #expect(undecodable.reason.rawValue == code)
        #expect(undecodable.detail.contains(says), "\(undecodable.detail)")
        #expect(undecodable.eventID == "a")
    }

    @Test func `headlines of ninjs that name their language are read, the main one of each`() throws {
        let event = try decode(
            #"{"uri":"u","language":"de","headlines":[{"role":"main","language":"fr","value":"F"},"#
                + #"{"role":"short","language":"de","value":"k"},{"role":"main","language":"de","value":"D"},"#
                + #"{"role":"creditline","language":"it","value":"by"},{"role":"main","value":"no language"}]}"#)
        #expect(event.headlines == [.init(language: "fr", text: "F"), .init(language: "de", text: "D")])
        #expect(event.headline == "D")
    }

    @Test func `an event inside a CloudEvent is ours although it has headlines and no id of its own`() throws {
        let event = try decode(
            #"{"specversion":"1.0","type":"t","source":"s","id":"ce","data":{"headline":"h","headlines":{"fr":"f"}}}"#)
        #expect(event.id == "ce" && event.headline == "h")
        #expect(event.headlines == [.init(language: "fr", text: "f")])
    }

    @Test(arguments: [
        ("fr", "fr", nil), ("fr-CA", "fr-ca", "fr"), ("FR_ca", "fr-ca", "fr"),
        ("zh-Hant-TW", "zh-hant-tw", "zh-hant"), ("en-a-b", "en-a-b", "en"), ("es-419", "es-419", "es"),
        ("", nil, nil), ("-", nil, nil), ("fr-", nil, nil), ("419", nil, nil), ("französisch", nil, nil),
        ("abcdefghi", nil, nil), ("f r", nil, nil),
    ])
    func `a language tag is read without case, and knows what is more general`(
        text: String, known: String?, parent: String?
    ) {
        let tag = LanguageTag(text)
        #expect(tag?.description == known)
        #expect(tag?.parent?.description == parent)
    }

    @Test func `a language covers its varieties and nothing else`() throws {
        let english = try #require(LanguageTag("en"))
        let covered = ["en", "EN-gb", "en_US", "enm", "e", "fr"].filter {
            LanguageTag($0).map(english.covers) ?? false
        }
        #expect(covered == ["en", "EN-gb", "en_US"])
    }
}
