import KafkaModel
import NewsModel
import Testing

@testable import EditorialControl

@Suite struct ControlRecordTests {
    static let at = Instant(milliseconds: 1_795_428_000_000)

    @Test(arguments: [
        ControlRecord.stands(
            Order(
                id: "01J", scope: .recall(story: "urn:a/b"), at: at, by: "m.mustermann", reason: "agency kill",
                until: at + .seconds(60), replacement: "Withdrawn: \"x\"")),
        .stands(Order(id: "2", scope: .stop(.hub), at: at, by: "ops")),
        .lifted(.stop(.category("World"))), .lapsed(.recall(story: "a"), order: "01J"),
        .beat(.init(replica: "host-1", at: at)),
        .beat(.init(replica: "host-1", at: at, logTime: .milliseconds(1_234), appliedTo: 7, orders: 2)),
        .beat(
            .init(
                replica: "host-1", at: at,
                process: .init(version: "0.2.0", shards: 4, group: "newswire", hub: "breaking-news"))),
        .ended(replica: "host-1"),
        .environment(HubEnvironment(name: "production", host: "x.servicebus.windows.net", hub: "news")),
        .environment(HubEnvironment(name: "production", host: "h", hub: "n", isImplied: true)), .noEnvironment(),
        .environment(HubEnvironment(name: "p", host: "h", hub: "n", group: "newswire")),
        .environment(HubEnvironment(name: "p", host: "h", hub: "sport", group: "sport/a"), isFirst: false),
        .noEnvironment(group: "sport/a"), .heldTotals(HeldTotals(count: 1, last: nil), topic: "sport.held"),
        .heldTotals(HeldTotals(count: 0, last: nil)),
        .heldTotals(HeldTotals(count: 7, last: HeldMark(HeldPlace(3, 1 << 40), identity: .max))),
    ])
    func `a written record is decoded as the same record`(record: ControlRecord) {
        let produced = record.record(on: "news.control")
        let reading = ControlRecord.read(
            SourceRecord(offset: 7, key: produced.key, value: produced.value, headers: produced.headers))
        #expect(reading.record == record)
        #expect(reading.fault == nil)
    }

    @Test func `the recall of a test whose story has the maximum size is decoded`() {
        let story = "test:" + String(repeating: "a", count: EventLimits.story)
        let order = Order(id: "1", scope: .recall(story: story), at: Self.at, by: "event", until: Self.at)
        let produced = ControlRecord.stands(order).record(on: "news.control")
        let reading = ControlRecord.read(SourceRecord(offset: 7, key: produced.key, value: produced.value))
        #expect(reading.record == .stands(order))
    }

    @Test(arguments: [
        ("", "{}", ControlRecord.Fault.key), ("hold/story/a", "{}", .key), ("recall/story/", "{}", .key),
        ("recall/story/", "{\"do\":\"recall\"}", .key), ("stop/lane/", "{\"do\":\"stop\"}", .key),
        ("", "{\"do\":\"stop\"}", .key),
        ("hold/story/a", "{\"do\":\"hold\"}", .kind), ("stop/region/eu", "{\"do\":\"stop\"}", .kind),
        ("recall/story/a", "recall", .value), ("recall/story/a", "[]", .value),
        ("recall/story/a", "{\"do\":\"approve\"}", .command), ("recall/story/a", "{}", .command),
        ("beat/a", "?", .value),
        ("environment/hub", "{\"environment\":\"production\"}", .value),
        ("environment/hub/", "{}", .key), ("held/totals/news.held", "{}", .value), ("held/totals", "{}", .value),
        ("held/totals", "{\"count\":-1}", .value),
        ("held/totals", "{\"count\":9223372036854775807}", .value),
        ("recall/story/\(String(repeating: "a", count: 518))", "{\"do\":\"recall\"}", .key),
        ("recall/story/a", "{\"do\":\"recall\",\"reason\":\"\(String(repeating: "a", count: 1 << 16))\"}", .tooLarge),
    ])
    func `an invalid record has a fault and no meaning`(key: String, value: String, fault: ControlRecord.Fault) {
        #expect(Self.read(key, value).record == nil)
        #expect(Self.read(key, value).fault == fault)
    }

    @Test(arguments: ["", "nonsense", "{}", "{\"do\":\"pause\"}", "[1]"])
    func `an invalid stop order stops`(value: String) {
        let reading = Self.read("stop/hub", value)
        #expect(reading.fault != nil)
        #expect(reading.record == .stands(Order(id: "offset 7", scope: .stop(.hub), at: Self.at, by: "unknown")))
    }

    @Test func `a record whose bytes are not text is invalid`() {
        let record = SourceRecord(offset: 0, key: [0xFF, 0xFE], value: [0xFF])
        #expect(ControlRecord.read(record).fault == .key)
        #expect(ControlRecord.read(SourceRecord(offset: 0, value: nil)).fault == .key)
    }

    @Test func `a reader without headers takes the tombstone of a lapsed order for a lift`() {
        let produced = ControlRecord.lapsed(.stop(.hub), order: "1").record(on: "news.control")
        #expect(produced.headers == [RecordHeader("nw-lapsed", "1")])
        let reading = ControlRecord.read(SourceRecord(offset: 7, key: produced.key, value: produced.value))
        #expect(reading == ControlRecord.Reading(record: .lifted(.stop(.hub))))
    }

    @Test(arguments: [nil, Instant(nanoseconds: 1_795_428_000_123_456_789)])
    func `the tombstone of a lapsed order keeps the order's end`(until: Instant?) {
        let tombstone = ControlRecord.lapsed(.recall(story: "a"), order: "1", until: until)
        let produced = tombstone.record(on: "news.control")
        let record = SourceRecord(offset: 7, key: produced.key, value: produced.value, headers: produced.headers)
        #expect(ControlRecord.read(record) == ControlRecord.Reading(record: tombstone))
    }

    @Test func `a tombstone of an unknown key has no meaning and no fault`() {
        let reading = ControlRecord.read(SourceRecord(offset: 0, key: Array("hold/story/a".utf8), value: nil))
        #expect(reading == ControlRecord.Reading())
    }

    @Test func `a recall lapses after a week unless it has an end time`() {
        guard case .stands(let order) = Self.read("recall/story/a", #"{"do":"recall","id":"1"}"#).record else {
            Issue.record("no order")
            return
        }
        #expect(order.until == Self.at + .seconds(7 * 86_400))
    }

    @Test(arguments: ["-1", "9223372036854775807", "1e3", "\"7\"", "null", "18446744073709551615"])
    func `a beat with an invalid time of the log counts as one without it`(number: String) {
        let reading = Self.read("beat/a", #"{"at":"2026-11-21T10:00:00Z","logTime":\#(number)}"#)
        #expect(reading == .init(record: .beat(.init(replica: "a", at: Instant(milliseconds: 1_795_255_200_000)))))
    }

    @Test func `long texts are cut between characters`() {
        let reason = String(repeating: "ä", count: 1_000)
        guard case .stands(let order) = Self.read("stop/hub", #"{"do":"stop","by":1,"reason":"\#(reason)"}"#).record
        else {
            Issue.record("no order")
            return
        }
        #expect(order.reason == String(repeating: "ä", count: 256))
        #expect(order.by == "unknown")
    }

    private static func read(_ key: String, _ value: String) -> ControlRecord.Reading {
        ControlRecord.read(SourceRecord(offset: 7, timestamp: at, key: Array(key.utf8), value: Array(value.utf8)))
    }
}
