import Foundation
import NewsModel
import NotificationHub
import Testing

private let source = ResultRecord.Source(partition: TopicPartition(topic: "news.events", partition: 3), offset: 41)
private let minimal = ResultRecord(
    eventID: "e", platform: .template, outcome: .withheld, lane: "live", source: source,
    settledAt: Instant(milliseconds: 1_795_222_923_123))

private func encoded(_ result: ResultRecord) -> [UInt8] {
    var bytes: [UInt8] = []
    result.encode(into: &bytes)
    return bytes
}

@Test func `every outcome has an example`() throws {
    let names = Set(try examples("news-result."))
    for outcome in Outcome.allCases { #expect(names.contains("news-result.\(outcome.rawValue).json")) }
}

@Test func `result examples read and write back as equal JSON`() throws {
    for name in try examples("news-result.") {
        let bytes = try example(name)
        let result = try ResultRecord(decoding: bytes)
        #expect(name.hasPrefix("news-result.\(result.outcome.rawValue)"))
        #expect(result.afterRecall == name.contains("after-recall"))
        let expected = try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? NSDictionary)
        let again = try #require(try JSONSerialization.jsonObject(with: Data(encoded(result))) as? NSDictionary)
        #expect(again == expected, "\(name)")
        #expect(try ResultRecord(decoding: encoded(result)) == result)
    }
}

@Test func `unknown values are left out, only the event id is null`() {
    var result = minimal
    result.eventID = nil
    #expect(
        String(decoding: encoded(result), as: UTF8.self)
            == #"{"eventId":null,"platform":"template","outcome":"withheld","categories":[],"tags":[],"lane":"live","#
            + #""attempts":0,"source":{"topic":"news.events","partition":3,"offset":41},"#
            + #""settledAt":"2026-11-21T01:02:03.123Z"}"#)
}

@Test func `a result stays small whatever the event and the hub contain`() throws {
    var result = minimal
    let long = String(repeating: "\u{1}é", count: 200_000)
    result.categories = Array(repeating: "World", count: 3) + Array(repeating: long, count: 500)
    result.tags = Array(repeating: "breaking", count: 100_000)
    result.notificationID = long
    result.trackingID = long
    result.error = .init(code: "bad-request", detail: long)
    let bytes = encoded(result)
    #expect(bytes.count < 48 << 10, "\(bytes.count)")
    let read = try ResultRecord(decoding: bytes)
    #expect(read.categories.starts(with: ["World", "World", "World", String(long.prefix(170) + "\u{1}")]))
    #expect(read.tags == Array(repeating: "breaking", count: 512))
    #expect(long.hasPrefix(try #require(read.error?.detail)))
    #expect(read.error?.detail.utf8.count == 1_024)
}

@Test func `a negative latency between the clocks of two machines is written as zero`() throws {
    var result = minimal
    result.latency = .init(queue: .nanoseconds(Int64.min), hub: .milliseconds(-1), total: .seconds(86_400 * 366))
    let latency = try ResultRecord(decoding: encoded(result)).latency
    #expect(latency == .init(queue: .zero, hub: .zero, total: .seconds(86_400 * 366)))
}

@Test func `the key is the event id, else the record's position`() {
    var result = minimal
    #expect(result.key == "e")
    #expect(result.coordinates.description == "news.events/3/41/template")
    result.eventID = nil
    #expect(result.key == "news.events/3/41")
}

@Test(arguments: [
    ("platform", #""symbian""#, "unknown-word"), ("outcome", "null", "wrong-type"), ("settledAt", "7", "wrong-type"),
    ("settledAt", #""today""#, "bad-date"), ("attempts", "1.5", "wrong-type"), ("tags", #"["a",1]"#, "wrong-type"),
    ("source", "[]", "wrong-type"), ("latencyMs", #"{"hub":1e300}"#, "wrong-type"), ("error", "{}", "wrong-type"),
])
func `a damaged result names the field`(field: String, value: String, code: String) throws {
    let text =
        #"{"\#(field)":\#(value),"#
        + #""eventId":null,"platform":"template","outcome":"withheld","lane":"live","#
        + #""source":{"topic":"t","partition":3,"offset":41},"settledAt":"2026-11-21T01:02:03.123Z"}"#
    let error = #expect(throws: Undecodable.self) { try ResultRecord(decoding: Array(text.utf8)) }
    #expect(error?.reason.rawValue == code)
    let inner = ["latencyMs": "hub", "error": "code"][field] ?? field
    #expect(error?.detail.contains(inner) == true, "\(error?.detail ?? "")")
}
