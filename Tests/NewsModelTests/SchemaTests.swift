import Foundation
import NewsModel
import NotificationHub
import TestSupport
import Testing

@Test(.enabled(if: JSONSchema.isReadable, JSONSchema.need))
func `the schemas accept every example and refuse what the decoder refuses`() async throws {
    let event = [#"{"id":"a","headline":"b"}"#, #"{"id":"a","headline":"b","data":null,"version":1,"x":{}}"#]
    let notEvent = [
        "[]", "{}", #"{"id":"a"}"#, #"{"headline":"b"}"#, #"{"id":"","headline":"b"}"#, #"{"id":"a","headline":" "}"#,
        #"{"id":1,"headline":"b"}"#, #"{"id":"a","headline":"b","urgency":0}"#,
        #"{"id":"a","headline":"b","urgency":10}"#, #"{"id":"a","headline":"b","urgency":"3"}"#,
        #"{"id":"a","headline":"b","status":"draft"}"#, #"{"id":"a","headline":"b","categories":"World"}"#,
        #"{"id":"a","headline":"b","publishedAt":"2026-11-21"}"#, #"{"id":"a","headline":"b","data":{"x":{}}}"#,
        #"{"id":"a\u0000","headline":"b"}"#, #"{"id":"a","headline":"b","expiresAt":"2026-13-21T00:00:00Z"}"#,
    ]
    for text in event { _ = try decode(text) }
    for text in notEvent { _ = try refusal(Array(text.utf8)) }
    let good = String(decoding: try example("news-result.accepted.json"), as: UTF8.self)
    let notResult = [
        "{}", good.replacing("accepted", with: "sent"), good.replacing("template", with: "symbian"),
        good.replacing("\"2026-11-21-ferry\"", with: "null"),
        good.replacing("\"attempts\": 1", with: "\"attempts\": -1"),
        good.replacing("\"offset\"", with: "\"place\""), good.replacing("01.084Z", with: "01"),
    ]
    for text in notResult { #expect(text != good) }
    #expect(try await JSONSchema.misjudged("news-event", good: event + texts("news-event."), bad: notEvent) == "")
    #expect(try await JSONSchema.misjudged("news-result", good: texts("news-result."), bad: notResult) == "")
}

@Test(.enabled(if: JSONSchema.isReadable, JSONSchema.need))
func `the result schema accepts every outcome and platform`() async throws {
    var written: [String] = []
    for (outcome, platform) in zip(Outcome.allCases, Platform.allCases + [.template]) {
        var result = ResultRecord(
            eventID: "e", platform: platform, outcome: outcome, lane: "backfill",
            source: .init(partition: TopicPartition(topic: "t", partition: 0), offset: 0),
            settledAt: Instant(nanoseconds: 1_795_222_923_123_456_789))
        result.error = .init(code: Undecodable.Reason.invalidUTF8.rawValue, detail: "“\u{0}”")
        result.latency.total = .nanoseconds(1_234_567)
        var bytes: [UInt8] = []
        result.encode(into: &bytes)
        written.append(String(decoding: bytes, as: UTF8.self))
    }
    #expect(try await JSONSchema.misjudged("news-result", good: written, bad: []) == "")
}

@Test func `every reason code is a word in kebab case`() {
    for reason in Undecodable.Reason.allCases {
        #expect(reason.rawValue.wholeMatch(of: /[a-z0-9]+(-[a-z0-9]+)*/) != nil)
    }
}

private func texts(_ prefix: String) throws -> [String] {
    try examples(prefix).map { String(decoding: try example($0), as: UTF8.self) }
}
