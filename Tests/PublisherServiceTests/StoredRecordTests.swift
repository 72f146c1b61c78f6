import KafkaModel
import NewsModel
import NotificationHub
import PublishEngine
import Testing

@testable import PublisherService

private func request(
    _ id: String? = "e", _ outcome: Outcome = .accepted, detail: String = "",
    identity: RecordIdentity = RecordIdentity(hash: 7),
    carried: [RecordHeader] = []
) -> StoreRequest {
    StoreRequest(
        delivery: DeliveryID(rawValue: 1),
        result: ResultRecord(
            eventID: id, platform: .apple, outcome: outcome, lane: "live",
            source: .init(partition: TopicPartition(topic: "news.events", partition: 3), offset: 41),
            settledAt: Instant(milliseconds: 1), error: .init(code: "no-category", detail: detail)),
        version: "2", identity: identity, carried: carried)
}

@Suite struct StoredRecordTests {
    @Test func `a result's header names its record`() throws {
        var draft = RecordDraft()
        let identity = RecordIdentity(of: SourceRecord(offset: 41, key: nil, value: [1]))
        request(nil, .undecodable, identity: identity)
            .resultRecord(
                in: &draft, topic: "r", group: "g", owner: ResultOwner(process: 36),
                carrying: [RecordHeader("ce_id", "x")])
        let record = ProducedRecord(draft)
        let header = try #require(record.headers.first { $0.name == "nw-identity" }?.value)
        #expect(RecordIdentity(headerValue: header) == identity)
        #expect(
            record.headers.map(\.name) == [
                "nw-source", "nw-outcome", "nw-group", "nw-owner", "nw-identity", "nw-version", "ce_id",
            ])
    }

    @Test(arguments: ["s", nil] as [String?])
    func `a result names the story that older events must not follow`(story: String?) {
        let request = StoreRequest(
            delivery: DeliveryID(rawValue: 1),
            result: ResultRecord(
                eventID: "e", story: "s", platform: .apple, outcome: .accepted, lane: "live",
                source: .init(partition: TopicPartition(topic: "news.events", partition: 3), offset: 41),
                settledAt: Instant(milliseconds: 1)),
            version: "2", story: story, identity: RecordIdentity(hash: 7), carried: [])
        var draft = RecordDraft()
        request.resultRecord(in: &draft, topic: "r", group: "g", owner: ResultOwner(process: 36), carrying: [])
        let record = ProducedRecord(draft)
        let entry = LedgerEntry(offset: 0, key: record.key, group: Array("g".utf8)) { name in
            record.headers.last { $0.name == name }?.value
        }
        #expect(entry?.story == story)
        #expect(entry?.version == "2")
    }

    @Test func `a dead letter has the time of writing, and the original time in a header`() {
        let original = SourceRecord(
            offset: 41, timestamp: Instant(milliseconds: 1_234), key: [1], value: [2],
            headers: [
                RecordHeader("x", "y"), RecordHeader("nw-written-at", "7"), RecordHeader("nw-truncated", "true"),
                RecordHeader("nw-group", "h"),
            ])
        let dead = request("e", .unroutable).deadLetterRecord(original, topic: "d", group: "g")
        #expect(dead.timestamp == nil && dead.key == [1] && dead.value == [2] && dead.topic == "d")
        #expect(
            dead.headers == [
                RecordHeader("x", "y"), RecordHeader("nw-source", "news.events/3/41/apple"),
                RecordHeader("nw-outcome", "unroutable"), RecordHeader("nw-reason", "no-category"),
                RecordHeader("nw-group", "g"), RecordHeader("nw-written-at", "1234"),
            ])
        let timeless = request("e", .unroutable).deadLetterRecord(
            SourceRecord(offset: 1, value: nil), topic: "d", group: "g")
        #expect(!timeless.headers.contains { $0.name == "nw-written-at" })
    }

    @Test func `recent results are bounded in number and in bytes, good and bad separately`() {
        var recent = RecentResults()
        for number in 0..<1_000 { recent.add(request("\(number)")) }
        recent.add(request("bad", .rejected))
        #expect(recent.all.count == RecentResults.capacity + 1)
        #expect(Set(recent.all.compactMap(\.eventID)) == Set((744..<1_000).map(String.init) + ["bad"]))
        let large = [RecordHeader(name: "ce_x", value: Array(repeating: 1, count: 100_000))]
        for number in 0..<10 { recent.add(request("large \(number)", carried: large)) }
        #expect(Set(recent.all.compactMap(\.eventID)) == ["large 8", "large 9", "bad"])
        for number in 0..<10 {
            recent.add(request("bad \(number)", .rejected, detail: String(repeating: "x", count: 100_000)))
        }
        #expect(Set(recent.all.compactMap(\.eventID)) == ["large 8", "large 9", "bad 8", "bad 9"])
        recent.add(request("huge", carried: [RecordHeader(name: "ce_x", value: Array(repeating: 1, count: 1 << 20))]))
        #expect(Set(recent.all.compactMap(\.eventID)) == ["bad 8", "bad 9"])
    }
}
