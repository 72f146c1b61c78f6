import Backfill
import Foundation
import KafkaModel
import NewsModel
import Testing

/// The items of a file that is read in pieces of this many bytes.
func items(of text: String, _ format: EventFileFormat, pieces: Int = .max) -> [EventFileItem] {
    var splitter = EventFileSplitter(format)
    var items: [EventFileItem] = []
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
        splitter.feed(rest.prefix(pieces), into: &items)
        rest = rest.dropFirst(pieces)
    }
    splitter.finish(into: &items)
    return items
}

/// Items as `line: text`, `line! reason` or, where the file is broken, `line!! reason`.
private func split(_ text: String, _ format: EventFileFormat, pieces: Int = .max) -> [String] {
    items(of: text, format, pieces: pieces).map { item in
        switch item.content {
        case .event(let bytes): "\(item.line): \(String(decoding: bytes, as: UTF8.self))"
        case .bad(let reason): "\(item.line)! \(reason)"
        case .broken(let reason): "\(item.line)!! \(reason)"
        }
    }
}

@Test(
    arguments: [
        (.ndjson, "{\"a\":1}\n\n{\"b\":2}\r\n  \n{\n", ["1: {\"a\":1}", "3: {\"b\":2}", "5: {"]),
        (.ndjson, "{}\n{\"a\":\"b", ["1: {}", "2!! the file ends in the middle of this event"]),
        (.ndjson, "\u{FEFF}{}", ["1: {}"]),
        (.ndjson, "", []),
        (.array, "[{\"a\":\"]},{\\\"\"},\n {\"b\":[1,{}]}\n]\n", ["1: {\"a\":\"]},{\\\"\"}", "2: {\"b\":[1,{}]}"]),
        (.array, "[]", []),
        (.array, "[1, \"x\" ,{}]", ["1: 1", "1: \"x\"", "1: {}"]),
        (.array, "[{},\n{", ["1: {}", "2!! the file ends in the middle of this event"]),
        (.array, "[{}", ["1: {}", "1!! the array has no end: ']' is missing"]),
        (.array, "[{}]\n{}", ["1: {}", "2!! text after the array's end"]),
        (.document, "{\n \"a\": \"}\"\n}\n{\"b\":1}{}", ["1: {\n \"a\": \"}\"\n}", "4: {\"b\":1}", "4: {}"]),
        (.document, "{\"a\":", ["1!! the file ends in the middle of this event"]),
        (
            .csv, "id,headline\r\n1,x\r\n\r\n2,\"a\nb\"\"c\"\r\n3",
            [
                "2: {\"id\":\"1\",\"headline\":\"x\"}", "4: {\"id\":\"2\",\"headline\":\"a\\nb\\\"c\"}",
                "6! 1 field, but the first line names 2",
            ]
        ),
        (
            .csv,
            "\u{FEFF}headline,id,urgency,categories,data.a,subjects\nh,1,3,World; Sports,x,\nh,2,high,,,medtop:1|medtop:2",
            [
                "2: {\"headline\":\"h\",\"id\":\"1\",\"urgency\":3,\"categories\":[\"World\",\"Sports\"],\"data\":{\"a\":\"x\"}}",
                "3: {\"headline\":\"h\",\"id\":\"2\",\"urgency\":\"high\",\"subjects\":[\"medtop:1\",\"medtop:2\"]}",
            ]
        ),
        (
            .csv, "id,headline,headlines.fr,headlines.en,users,environment,test\n1,h,H,,a|1; b,s,true\n2,h,,,,,yes",
            [
                #"2: {"id":"1","headline":"h","users":["a|1","b"],"environment":"s","test":true,"headlines":{"fr":"H"}}"#,
                #"3: {"id":"2","headline":"h","users":[],"test":"yes"}"#,
            ]
        ),
        (.csv, "\u{FEFF}\"id\",\"headline\"\n\"1\",\"x\"", ["2: {\"id\":\"1\",\"headline\":\"x\"}"]),
        (.csv, "id,hedline\n1,x", ["1!! the column 'hedline' is not a field of an event; did you mean headline?"]),
        (.csv, "id,category\n1,x", ["1!! there is no column 'headline', which every event needs"]),
        (.csv, "id,id\n1,x", ["1!! the column 'id' occurs twice"]),
        (
            .csv, "id,headline\n1,\"He said \"no\" today\"\n2,\"x\"\"y\"",
            [
                "2! a quote inside a quoted field must be written twice: \"\"",
                "3: {\"id\":\"2\",\"headline\":\"x\\\"y\"}",
            ]
        ),
        (.csv, "id,headline\n1,\"open", ["2!! the file ends inside a quoted field"]),
    ] as [(EventFileFormat, String, [String])])
func `a file is split into its events, regardless of how its pieces are cut`(
    format: EventFileFormat, text: String, expected: [String]
) {
    for pieces in [1, 2, 3, 7, .max] {
        #expect(split(text, format, pieces: pieces) == expected)
    }
}

@Test(
    arguments: [
        ("{\"id\":1}\n{\"id\":2}", .ndjson), ("  [\n", .array), ("{\n \"id\": 1\n}", .document),
        ("id,headline\n", .csv),
        ("<?xml version=\"1.0\"?>", .newsML), ("\u{FEFF} <nitf>", .newsML),
        ("", .ndjson), (" \n", .ndjson), ("id", .csv), ("\u{FEFF}{}", .ndjson), ("{\"a\":\"{\"}\n", .ndjson),
    ] as [(String, EventFileFormat)])
func `the format is detected by the beginning of the text`(text: String, format: EventFileFormat) {
    #expect(EventFileFormat(ofTextBeginning: Array(text.utf8)) == format)
}

@Test(arguments: [EventFileFormat.ndjson, .array, .document, .csv])
func `an event longer than the bound is skipped, not kept`(format: EventFileFormat) {
    let filler = String(repeating: "x", count: EventFileSplitter.eventLengthMax + 10)
    let event = "{\"id\":\"1\",\"headline\":\"\(filler)\"}"
    let text =
        switch format {
        case .ndjson: "\(event)\n{}"
        case .array: "[\(event),\n{}]"
        case .document: "\(event)\n{}"
        case .csv, .newsML: "id,headline\n1,\(filler)\n2,x"
        }
    let items = split(text, format, pieces: 65_536)
    #expect(items.first?.hasSuffix("! longer than 2 MiB") == true)
    #expect(items.count == 2)
    #expect(items.last?.hasPrefix(format == .csv ? "3: {" : "2: {") == true)
}

private let data = ProcessInfo.processInfo.environment["NEWSWIRE_TEST_DATA"]

@Test(.enabled(if: data != nil, "set NEWSWIRE_TEST_DATA to the folder with ag_news.csv"))
func `four thousand real headlines come out of CSV unchanged`() throws {
    let text = try String(
        contentsOf: URL(fileURLWithPath: try #require(data)).appending(path: "ag_news.csv"), encoding: .utf8)
    // The file has no header and no ids: its class serves as the id, which need not be unique here.
    var splitter = EventFileSplitter(.csv)
    var items: [EventFileItem] = []
    splitter.feed(Array(("id,headline,summary\n" + text).utf8)[...], into: &items)
    splitter.finish(into: &items)
    #expect(items.count == 4000)
    let decoder = NewsDecoder()
    for item in items {
        guard case .event(let bytes) = item.content else {
            Issue.record("line \(item.line): \(item.content)")
            continue
        }
        #expect(throws: Never.self) { try decoder.decode(SourceRecord(offset: 0, value: bytes)) }
    }
}
