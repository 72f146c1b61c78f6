import NewsModel
import NotificationHub
import Testing

struct StampTests {
    private func decoded(_ more: String, header: String? = nil) throws -> NewsEvent {
        try decode(
            #"{"id":"a","headline":"b"\#(more)}"#,
            headers: header.map { [RecordHeader(HeaderName.environment, $0)] } ?? [])
    }

    @Test(
        arguments: [
            ("", nil, nil), (#","environment":"staging""#, nil, "staging"), ("", "staging", "staging"),
            (#","environment":"staging""#, "staging", "staging"), (#","environment":" ""#, "staging", "staging"),
            (#","environment":null"#, nil, nil), (#","environment":"Staging""#, "staging", "Staging"),
            // An empty stamp beside another has no effect. Alone it matches no environment.
            (##","environment":"""##, nil, ""), (#","environment":" ""#, nil, ""), ("", "", ""), ("", " ", ""),
            (#","environment":"staging""#, "", "staging"),
            // Two different stamps match no environment.
            (#","environment":"staging""#, "production", "staging, production"),
        ] as [(String, String?, String?)])
    func `an event is stamped by its document or its record`(more: String, header: String?, stamp: String?) throws {
        #expect(try decoded(more, header: header).environment == stamp)
    }

    @Test(arguments: [
        (["production", "staging"], "production, staging"), (["staging", "production"], "staging, production"),
        (["staging", "staging"], "staging"), (["staging", "", "Staging"], "staging"), (["", "staging"], "staging"),
        (["", ""], ""), (["a", "b", "a"], "a, b, a"),
    ])
    func `all stamps of a record count, not the last alone`(stamps: [String], stamp: String) throws {
        let headers = stamps.enumerated().map { RecordHeader($0 == 0 ? "NW-Environment" : HeaderName.environment, $1) }
        #expect(try decode(#"{"id":"a","headline":"b"}"#, headers: headers).environment == stamp)
    }

    @Test func `a stamp that is not text still counts`() throws {
        let record = SourceRecord(
            offset: 0, value: Array(#"{"id":"a","headline":"b"}"#.utf8),
            headers: [RecordHeader(name: HeaderName.environment, value: [0xFF])])
        #expect(try NewsDecoder().decode(record).environment != nil)
    }

    @Test(arguments: [("", false), (#","test":false"#, false), (#","test":null"#, false), (#","test":true"#, true)])
    func `an event says that it is a test`(more: String, isTest: Bool) throws {
        #expect(try decoded(more).isTest == isTest)
    }

    @Test(arguments: [
        #","test":"true""#, #","test":1"#, #","test":[]"#, #","environment":7"#, #","test":true,"test":false"#,
    ])
    func `an unclear test mark or stamp is refused`(more: String) throws {
        #expect(throws: Undecodable.self) { try decoded(more) }
    }

    @Test func `ninjs documents and CloudEvents carry the same marks`() throws {
        let ninjs = try decode(#"{"uri":"urn:a","headline":"b","test":true,"environment":"staging"}"#)
        #expect(ninjs.isTest)
        #expect(ninjs.environment == "staging")
        let inside = #"{"specversion":"1.0","type":"t","source":"s","id":"a","data":{"headline":"b","test":true}}"#
        #expect(try decode(inside).isTest)
    }

    @Test func `a test has keys of its own`() throws {
        let event = try decoded(#","story":"s","version":3"#)
        var test = event
        test.isTest = true
        #expect(test.orderKey != event.orderKey)
        #expect(test.ledgerVersion != event.ledgerVersion)
        #expect(test.resultStory != event.resultStory)
        #expect(try decode(written(test)) == test)
    }

    private func written(_ event: NewsEvent) -> [UInt8] {
        var bytes: [UInt8] = []
        event.encode(into: &bytes)
        return bytes
    }

    @Test func `a result keeps as many reasons as fit, whole`() throws {
        var result = ResultRecord(
            eventID: "e", platform: .template, outcome: .accepted, lane: "live",
            source: .init(partition: TopicPartition(topic: "t", partition: 0), offset: 0),
            settledAt: Instant(nanoseconds: 0))
        result.routing = (0..<50).map { .init(category: "Category \($0)", because: "subject medtop:11000000") }
        result.isQuiet = true
        result.run = String(repeating: "r", count: 1_000)
        var bytes: [UInt8] = []
        result.encode(into: &bytes)
        let read = try ResultRecord(decoding: bytes)
        #expect((3...12).contains(read.routing.count))
        #expect(result.routing.starts(with: read.routing))
        #expect(read.isQuiet && !read.isTest)
        #expect(read.run?.count == 128)
        #expect(String(decoding: bytes, as: UTF8.self).contains(#""quiet":"silent""#))
    }
}
