import Foundation
import NewsModel
import Testing

private let attributes = #""specversion":"1.0","type":"t","source":"/s","id":"ce-1""#
private let binary = [
    RecordHeader("ce_specversion", "1.0"), RecordHeader("ce_type", "t"), RecordHeader("ce_source", "/s"),
    RecordHeader("ce_id", "ce-1"), RecordHeader("ce_time", "2026-11-21T01:02:03Z"),
    RecordHeader("content-type", "application/json"),
]

@Test func `a structured CloudEvent is decoded`() throws {
    let event = try decode(example("cloudevent.structured.json"))
    #expect(event.id == "cup-final-ft")
    #expect(event.story == "cup-final")
    #expect(event.publishedAt == Instant(rfc3339: "2026-11-21T18:45:00Z"))
}

@Test(arguments: [
    (#""data":{"headline":"h"}"#, "ce-1"), (#""data":{"id":"a","headline":"h"}"#, "a"),
    (#""data":{"uri":"u","headlines":[{"role":"main","value":"h"}]}"#, "u"),
    (#""data":"{\"id\":\"a\",\"headline\":\"h\"}""#, "a"),
    (#""data_base64":"eyJpZCI6ImEiLCJoZWFkbGluZSI6ImgifQ==""#, "a"),
    (#""data":{"id":"a","headline":"h"},"data_base64":null"#, "a"),
])
func `the data of a structured CloudEvent may be an object, a string or base64`(data: String, id: String) throws {
    let event = try decode("{\(attributes),\(data)}")
    #expect(event.id == id)
    #expect(event.headline == "h")
}

@Test func `a content type names a structured CloudEvent even without all attributes`() throws {
    let text = #"{"specversion":"1.0","data":{"id":"a","headline":"h"}}"#
    let headers = [RecordHeader("Content-Type", "Application/CloudEvents+JSON; charset=utf-8")]
    #expect(try decode(text, headers: headers).id == "a")
}

@Test(arguments: [
    (#"{\#(attributes)}"#, "bad-cloudevent", "no data"),
    (#"{\#(attributes),"data":{"id":"a","headline":"h"},"data_base64":"e30="}"#, "bad-cloudevent", "both"),
    (#"{\#(attributes),"data_base64":"e30"}"#, "bad-cloudevent", "not base64"),
    (#"{\#(attributes),"data_base64":"e30=e30="}"#, "bad-cloudevent", "not base64"),
    (#"{\#(attributes),"data_base64":"===="}"#, "bad-cloudevent", "not base64"),
    (#"{\#(attributes),"data_base64":{}}"#, "wrong-type", "data_base64"),
    (#"{\#(attributes),"data":[]}"#, "wrong-type", "data must be an object"),
    (#"{\#(attributes),"data":"<xml/>"}"#, "invalid-json", "byte 0"),
    (#"{\#(attributes),"data":{"id":"ce-1"}}"#, "missing-headline", "headline"),
    (#"{\#(attributes),"time":"now","data":{"id":"a","headline":"h"}}"#, "bad-date", "time"),
    (#"{\#(attributes),"id":"ce-1","data":{"headline":"h"}}"#, "duplicate-key", "“id”"),
    (#"{"specversion":"2.0","type":"t","source":"/s","id":"ce-1","data":{}}"#, "bad-cloudevent", "specversion 2.0"),
])
func `an envelope without an event is refused`(text: String, code: String, detail: String) throws {
    // If an id is given twice, neither is used.
    let expected = text.contains(#""ce-1","id""#) ? nil : "ce-1"
    let refused = try refusal(Array(text.utf8))
    #expect(refused.reason.rawValue == code)
    #expect(refused.detail.contains(detail), "\(refused.detail)")
    #expect(refused.eventID == expected)
}

@Test func `a binary CloudEvent supplies a missing id and time`() throws {
    let event = try decode(#"{"headline":"h"}"#, headers: binary)
    #expect(event.id == "ce-1")
    #expect(event.publishedAt == Instant(rfc3339: "2026-11-21T01:02:03Z"))
    let own = try decode(#"{"id":"a","headline":"h","publishedAt":"2026-11-20T00:00:00Z"}"#, headers: binary)
    #expect(own.id == "a")
    #expect(own.publishedAt == Instant(rfc3339: "2026-11-20T00:00:00Z"))
}

@Test func `a binary CloudEvent that cannot be read is reported under its id`() throws {
    #expect(try refusal(Array("{".utf8), headers: binary).eventID == "ce-1")
    #expect(try refusal(nil, headers: binary).eventID == "ce-1")
    let late = binary.filter { $0.name != "ce_time" } + [RecordHeader("ce_time", "late")]
    #expect(try refusal(Array(#"{"headline":"h"}"#.utf8), headers: late).reason == .badDate)
    #expect(try decode(#"{"headline":"h","publishedAt":"2026-11-20T00:00:00Z"}"#, headers: late).id == "ce-1")
}

@Test func `CloudEvents headers count only with a version, and only when they are text`() throws {
    let headers = [RecordHeader("ce_id", "ce-1")]
    #expect(try refusal(Array(#"{"headline":"h"}"#.utf8), headers: headers).reason == .missingID)
    for id: [UInt8]? in [nil, [], [0xFF], [0x41, 0x00], Array(repeating: 0x41, count: 513)] {
        let headers = [RecordHeader("ce_specversion", "1.0"), RecordHeader(name: "ce_id", value: id)]
        #expect(try refusal(Array(#"{"headline":"h"}"#.utf8), headers: headers).reason == .missingID)
    }
}

@Test func `base64 data is decoded`() throws {
    // White space after the document does not change it, so all paddings are covered.
    for spaces in 0..<6 {
        let text = #"{"id":"ä?>~","headline":"h"}"# + String(repeating: " ", count: spaces)
        let encoded = Data(text.utf8).base64EncodedString()
        #expect(try decode(#"{\#(attributes),"data_base64":"\#(encoded)"}"#).id == "ä?>~")
    }
}
