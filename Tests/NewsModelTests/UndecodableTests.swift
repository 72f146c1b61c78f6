import NewsModel
import Testing

/// Each way a record can fail: the value, the code, words in its detail, the id that is still known.
private let refusals: [(value: String?, code: String, detail: String, id: String?)] = [
    (nil, "tombstone", "no value", nil),
    ("", "empty", "empty", nil),
    (" \n\t", "empty", "white space", nil),
    ("\u{FEFF}", "empty", "white space", nil),
    (#"{"id":"a","headline":"b"#, "truncated-json", "ends at byte 23", nil),
    (#"{"id":"a","headline":"b""#, "truncated-json", "ends at byte 24", nil),
    (#"{"id":"a","headline":tru"#, "truncated-json", "byte 24", nil),
    (#"{"id":"a","n":-"#, "truncated-json", "byte 15", nil),
    ("{", "truncated-json", "byte 1", nil),
    (#"{"id":"a","headline":"\ud8"#, "truncated-json", "byte 26", nil),
    (#"{"id":"a" "headline":"b"}"#, "invalid-json", "comma or a closing bracket is missing at byte 10", nil),
    (#"{"id":"a","headline":"b",}"#, "invalid-json", "byte 25", nil),
    (#"{"id":"a","headline":"b"}]"#, "invalid-json", "something follows the document at byte 25", nil),
    (#"{"id":"a","tags":[1}}"#, "invalid-json", "wrong closing bracket at byte 19", nil),
    (#"{"id" "a"}"#, "invalid-json", "colon is missing at byte 6", nil),
    ("{id: 1}", "invalid-json", "name in quotes is missing at byte 1", nil),
    (#"{"id":'a'}"#, "invalid-json", "byte 6", nil),
    (#"{"id":"a","n":01}"#, "invalid-json", "byte 14", nil),
    (#"{"id":"a","n":NaN}"#, "invalid-json", "byte 14", nil),
    (#"{"id":"\x"}"#, "invalid-json", "escape is unknown at byte 7", nil),
    (#"{"id":"\u00g0"}"#, "invalid-json", "hexadecimal digits at byte 7", nil),
    (#"{"id":"a","headline":"\ud800"}"#, "invalid-json", "unpaired surrogate at byte 22", nil),
    (#"{"id":"a","headline":"\ud800\u0041"}"#, "invalid-json", "surrogate", nil),
    (#"{"id":"a","headline":"\udc00"}"#, "invalid-json", "unpaired surrogate at byte 22", nil),
    ("{\"id\":\"a\",\"headline\":\"b\u{1}\"}", "invalid-json", "unescaped control character", nil),
    ("<?xml version=\"1.0\"?><rss/>", "invalid-json", "byte 0", nil),
    (#"{"id":"a","headline":"b","n":123456789012345678901234567890}"#, "number-out-of-range", "64 bits", nil),
    (#"{"id":"a","headline":"b","n":1e999}"#, "number-out-of-range", "64 bits", nil),
    (#"[{"id":"a","headline":"b"}]"#, "not-an-object", "it is an array", nil),
    (#""text""#, "not-an-object", "it is a string", nil),
    ("null", "not-an-object", "it is null", nil),
    ("12", "not-an-object", "it is a number", nil),
    (#"{"headline":"b"}"#, "missing-id", "id is missing", nil),
    (#"{"id":null,"headline":"b"}"#, "missing-id", "id is missing", nil),
    (#"{"id":"  ","headline":"b"}"#, "missing-id", "blank", nil),
    (#"{"uri":"","headline":"b","versioncreated":"2026-11-21T01:02:03Z"}"#, "missing-id", "uri is missing", nil),
    (#"{"id":"a"}"#, "missing-headline", "headline is missing", "a"),
    (#"{"id":"a","headline":null}"#, "missing-headline", "headline", "a"),
    (#"{"id":"a","headline":" \t\u00a0\u200b\n"}"#, "missing-headline", "blank", "a"),
    (#"{"uri":"a","title":""}"#, "missing-headline", "slugline", "a"),
    (#"{"id":7,"headline":"b"}"#, "wrong-type", "id must be a string; it is a number", nil),
    (#"{"id":"a","headline":["b"]}"#, "wrong-type", "headline must be a string; it is an array", "a"),
    (#"{"id":"a","headline":"b","category":true}"#, "wrong-type", "category must be a string; it is a boolean", "a"),
    (#"{"id":"a","headline":"b","categories":"c"}"#, "wrong-type", "categories must be an array", "a"),
    (#"{"id":"a","headline":"b","categories":[1]}"#, "wrong-type", "a member of categories must be a string", "a"),
    (#"{"id":"a","headline":"b","subjects":{}}"#, "wrong-type", "subjects must be an array", "a"),
    (#"{"id":"a","headline":"b","urgency":"4"}"#, "wrong-type", "urgency must be a number", "a"),
    (#"{"id":"a","headline":"b","version":[]}"#, "wrong-type", "version must be a string or a number", "a"),
    (#"{"id":"a","headline":"b","status":1}"#, "wrong-type", "status must be a string", "a"),
    (#"{"id":"a","headline":"b","publishedAt":1795222923}"#, "wrong-type", "publishedAt must be a string", "a"),
    (#"{"id":"a","headline":"b","data":[]}"#, "wrong-type", "data must be an object", "a"),
    (#"{"id":"a","headline":"b","data":{"user":{"n":1}}}"#, "wrong-type", "data.user must be a string", "a"),
    (#"{"uri":"a","headlines":"b"}"#, "wrong-type", "headlines must be an array", "a"),
    (#"{"uri":"a","headline":"b","subject":["c"]}"#, "wrong-type", "a member of subject must be an object", "a"),
    (#"{"uri":"a","headline":"b","pubstatus":1}"#, "wrong-type", "pubstatus must be a string", "a"),
    (#"{"id":"a","id":"a","headline":"b"}"#, "duplicate-key", "“id” is given more than once", nil),
    (#"{"id":"a","headline":"b","headline":"c"}"#, "duplicate-key", "“headline”", "a"),
    (#"{"headline":"b","headline":"b","id":"a","id":"a"}"#, "duplicate-key", "“headline”", nil),
    (#"{"id":"a","headline":"b","headline":null}"#, "duplicate-key", "“headline”", "a"),
    (#"{"id":"a","headline":"b","\u0068eadline":"c"}"#, "duplicate-key", "“headline”", "a"),
    (
        #"{"id":"a","headline":"b","data":{"k":"1","k":"1"}}"#, "duplicate-key", "“k” is given more than once in data",
        "a"
    ),
    (#"{"uri":"a","headline":"b","pubStatus":"usable","pubstatus":"canceled"}"#, "duplicate-key", "pubStatus", "a"),
    (#"{"uri":"a","headlines":[{"value":"b","value":"c"}]}"#, "duplicate-key", "“value”", "a"),
    (#"{"id":"a","headline":"b","expiresAt":"tomorrow"}"#, "bad-date", "expiresAt must be an RFC 3339", "a"),
    (#"{"id":"a","headline":"b","embargoUntil":"2026-11-21T01:02:03"}"#, "bad-date", "with an offset", "a"),
    (#"{"id":"a","headline":"b","publishedAt":"2026-02-30T00:00:00Z"}"#, "bad-date", "publishedAt", "a"),
    (#"{"uri":"a","headline":"b","versioncreated":"2026-11-21"}"#, "bad-date", "versioncreated", "a"),
    (#"{"id":"a","headline":"b","urgency":0}"#, "bad-urgency", "it is 0", "a"),
    (#"{"id":"a","headline":"b","urgency":10}"#, "bad-urgency", "it is 10", "a"),
    (#"{"id":"a","headline":"b","urgency":3.5}"#, "bad-urgency", "it is 3.5", "a"),
    (#"{"id":"a","headline":"b","urgency":18446744073709551615}"#, "bad-urgency", "18446744073709551615", "a"),
    (#"{"id":"a","headline":"b","status":"draft"}"#, "unknown-status", "it is “draft”", "a"),
    (#"{"id":"a","headline":"b","status":"canceled canceled"}"#, "unknown-status", "status", "a"),
    (#"{"uri":"a","headline":"b","pubstatus":"spiked"}"#, "unknown-status", "pubstatus", "a"),
    (#"{"id":"a\u0000b","headline":"b"}"#, "control-character", "id contains a control character", nil),
    (#"{"id":"a","headline":"b","story":"x\r\ny"}"#, "control-character", "story", "a"),
    (#"{"id":"a","headline":"b","link":"https://x/\u007f"}"#, "control-character", "link", "a"),
]

@Test(arguments: refusals)
func `anything but an event is refused with a code and a sentence`(
    value: String?, code: String, detail: String, id: String?
) throws {
    let refused = try refusal(value.map { Array($0.utf8) })
    #expect(refused.reason.rawValue == code)
    #expect(refused.detail.contains(detail), "\(refused.detail)")
    #expect(refused.eventID == id)
}

@Test(
    arguments: [
        ([0x7B, 0xFF, 0x7D], 1), (Array(#"{"id":""#.utf8) + [0xC3, 0x28] + Array(#""}"#.utf8), 7),
        (Array(#"{"id":"é"#.utf8) + [0xED, 0xA0, 0x80] + Array(#""}"#.utf8), 9), ([0xC0, 0x80], 0),
        (Array(#"{"id":"a","headline":"b"}"#.utf8) + [0xF0, 0x9F], 25),
    ] as [([UInt8], Int)])
func `invalid UTF-8 is refused with its position`(value: [UInt8], offset: Int) throws {
    let refused = try refusal(value)
    #expect(refused.reason == .invalidUTF8)
    #expect(refused.detail.contains("byte \(offset) "), "\(refused.detail)")
}

@Test(arguments: [
    (String(repeating: "[", count: 10_000), "too-deep"),
    (String(repeating: "[", count: 10_000) + String(repeating: "]", count: 10_000), "too-deep"),
    (#"{"id":"a","headline":"b","x":"# + String(repeating: #"{"y":"#, count: 10_000), "too-deep"),
    (#"{"id":"a","headline":"b","x":"# + nested(64) + "}", "too-deep"),
])
func `JSON nested without end is refused`(value: String, code: String) throws {
    #expect(try refusal(Array(value.utf8)).reason.rawValue == code)
}

/// The explanation of a refusal looks at each of 500,000 numbers. The limit is for a shard's loop, which does nothing else meanwhile.
@Test(
    .timeLimit(.minutes(1)),
    arguments: [("1,", "truncated-json"), ("-0.5e+7,", "truncated-json"), ("01,", "invalid-json")])
func `a long list without an end is refused at once`(element: String, code: String) throws {
    let list = String(repeating: element, count: 1_000_000 / element.utf8.count)
    #expect(try refusal(Array(#"{"id":"a","headline":"b","x":[\#(list)"#.utf8)).reason.rawValue == code)
}

@Test(arguments: [
    ("-", "truncated-json"), ("1.", "truncated-json"), ("1e", "truncated-json"), ("1e+", "truncated-json"),
    ("tru", "truncated-json"), ("12", "truncated-json"), ("nul]", "invalid-json"), ("1.e5", "invalid-json"),
    ("+1", "invalid-json"), (".5", "invalid-json"), ("1.5e+7x", "invalid-json"), ("truee", "invalid-json"),
])
func `a word that is cut off is told from one that is wrong`(word: String, code: String) throws {
    #expect(try refusal(Array(#"{"id":"a","headline":"b","x":[\#(word)"#.utf8)).reason.rawValue == code)
}

private func nested(_ levels: Int) -> String {
    String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
}

@Test(arguments: 1...80) func `at every depth, JSON is either read or too deep`(levels: Int) throws {
    switch NewsDecoder().attempt(record(#"{"id":"a","headline":"b","x":\#(nested(levels))}"#)) {
    case .success: #expect(levels < EventLimits.depth)
    case .failure(let refused): #expect(refused.reason == .tooDeep && levels >= EventLimits.depth - 1)
    }
}

@Test func `JSON of an ordinary depth is read`() throws {
    #expect(try decode(#"{"id":"a","headline":"b","x":\#(nested(60))}"#).id == "a")
}

@Test func `a document of 2 MB is refused, and the decoder reads the next one`() throws {
    let decoder = NewsDecoder()
    let body = #"{"id":"a","headline":"b","x":"\#(String(repeating: "x", count: 2_000_000))"}"#
    guard case .failure(let refused) = decoder.attempt(record(body)) else { throw Accepted(event: try decode(body)) }
    #expect(refused.reason.rawValue == "too-large")
    #expect(refused.detail.contains("2000032 bytes; at most 1048576"), "\(refused.detail)")
    #expect(try decoder.decode(record(#"{"id":"a","headline":"b"}"#)).headline == "b")
}

@Test func `a document of exactly the limit is read`() throws {
    let frame = #"{"id":"a","headline":"b","x":""}"#
    let padding = String(repeating: "x", count: EventLimits.document - frame.utf8.count)
    #expect(try decode(#"{"id":"a","headline":"b","x":"\#(padding)"}"#).id == "a")
    #expect(try refusal(Array(#"{"id":"a","headline":"b","x":"\#(padding)x"}"#.utf8)).reason == .tooLarge)
}

@Test(arguments: [
    ("id", EventLimits.id), ("category", EventLimits.category), ("language", EventLimits.language),
    ("story", EventLimits.story),
    ("version", EventLimits.version), ("link", EventLimits.address), ("image", EventLimits.address),
])
func `a text up to its limit is read and one byte more is too long`(field: String, limit: Int) throws {
    func document(_ count: Int) -> String {
        let fields = ["id": "a", "headline": "b"].merging([field: String(repeating: "x", count: count)]) { $1 }
        return "{" + fields.sorted { $0.key < $1.key }.map { #""\#($0.key)":"\#($0.value)""# }.joined(separator: ",")
            + "}"
    }
    _ = try decode(document(limit))
    let refused = try refusal(Array(document(limit + 1).utf8))
    #expect(refused.reason.rawValue == "too-long")
    #expect(refused.detail == "\(field) has \(limit + 1) bytes; at most \(limit) are allowed")
}

@Test(arguments: ["headline", "summary"])
func `a text for readers that is too long is cut between characters`(field: String) throws {
    let limit = field == "headline" ? EventLimits.headline : EventLimits.summary
    let text = "x" + String(repeating: "é", count: limit)
    let fields = ["id": "a", "headline": "b"].merging([field: text]) { $1 }
    let event = try decode(
        "{" + fields.sorted { $0.key < $1.key }.map { #""\#($0.key)":"\#($0.value)""# }.joined(separator: ",") + "}")
    let read = field == "headline" ? event.headline : event.summary
    #expect(read?.utf8.count == limit - 1)
    #expect(read.map(text.hasPrefix) == true)
}

@Test func `lists up to their limit are read and one member more is too many`() throws {
    func document(_ categories: Int, _ data: Int) -> String {
        let names = (0..<categories).map { #""c\#($0)""# }.joined(separator: ",")
        let fields = (0..<data).map { #""k\#($0)":"v""# }.joined(separator: ",")
        return #"{"id":"a","headline":"b","category":"c","categories":[\#(names)],"data":{\#(fields)}}"#
    }
    #expect(try decode(document(EventLimits.categories, EventLimits.dataFields)).data.count == EventLimits.dataFields)
    for text in [document(EventLimits.categories + 1, 0), document(0, EventLimits.dataFields + 1)] {
        let refused = try refusal(Array(text.utf8))
        #expect(refused.reason.rawValue == "too-many")
        #expect(refused.eventID == "a")
    }
}

@Test func `a detail stays short and plain whatever the document contains`() throws {
    let long = String(repeating: "\u{7}\u{202E}ü", count: 5_000)
    var bytes: [UInt8] = []
    JSONWriter.write(into: &bytes) { json in
        json.object { json in
            json.field("id", "a")
            json.field("headline", "b")
            json.field("status", long)
        }
    }
    let refused = try refusal(bytes)
    #expect(refused.reason == .unknownStatus)
    #expect(refused.detail.utf8.count < 400)
    #expect(!refused.detail.utf8.contains(7))
}
