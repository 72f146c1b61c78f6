import KafkaModel
import NewsModel
import NotificationHub
import Testing

@Suite struct SmallestRecordsTests {
    static let source = ResultRecord.Source(partition: TopicPartition(topic: "news.events", partition: 3), offset: 41)

    @Test(arguments: ["e", nil]) func `a result too large for the broker keeps what the ledger and the schema need`(
        eventID: String?
    ) throws {
        var result = ResultRecord(
            eventID: eventID, platform: .apple, outcome: .undecodable, categories: ["World"], tags: ["World"],
            lane: "live",
            attempts: 2, httpStatus: 400, notificationID: "n", trackingID: "t", source: Self.source,
            settledAt: Instant(milliseconds: 1_795_222_923_123),
            error: .init(code: "too-large", detail: String(repeating: "x", count: 1_000)))
        result.afterRecall = true
        var value: [UInt8] = []
        result.encode(into: &value)
        let ours = ["nw-source", "nw-outcome", "nw-group", "nw-version", "nw-identity", "nw-owner"].map {
            RecordHeader($0, "x")
        }
        let record = ProducedRecord(
            topic: "news.results", partition: 3, key: Array(result.key.utf8), value: value,
            headers: ours + [RecordHeader(name: "ce_x", value: Array(repeating: 1, count: 1 << 20))])
        let smallest = smallestResult(record)
        #expect(smallest.topic == record.topic && smallest.partition == 3 && smallest.key == record.key)
        #expect(smallest.headers == ours)
        let read = try ResultRecord(decoding: try #require(smallest.value))
        #expect(
            read.eventID == eventID && read.outcome == .undecodable && read.platform == .apple && read.attempts == 2)
        #expect(read.source == Self.source && read.settledAt == result.settledAt && read.error?.code == "too-large")
        #expect(read.afterRecall && read.categories.isEmpty && read.tags.isEmpty)
        #expect(smallest.value?.count ?? .max < 400)
    }

    @Test func `a result that cannot be read loses only its carried headers`() {
        let record = ProducedRecord(
            topic: "r", value: [1], headers: [RecordHeader("traceparent", "x"), RecordHeader("nw-source", "y")])
        #expect(smallestResult(record).value == [1])
        #expect(smallestResult(record).headers == [RecordHeader("nw-source", "y")])
    }

    @Test func `a dead letter too large for the broker says where the original stands and that it was cut`() {
        let ours = [
            RecordHeader("nw-redrive", "2"), RecordHeader("nw-source", "news.events/3/41/apple"),
            RecordHeader("nw-outcome", "rejected"), RecordHeader("nw-reason", "hub-400"),
            RecordHeader("nw-written-at", "7"),
        ]
        let record = ProducedRecord(
            topic: "d", key: Array(repeating: 2, count: 1 << 20), value: Array(repeating: 3, count: 1 << 20),
            headers: [RecordHeader("x-desk", "night"), RecordHeader("nw-other", "z")] + ours)
        let smallest = smallestDeadLetter(record)
        #expect(smallest.headers == ours + [RecordHeader("nw-truncated", "true")])
        #expect(smallest.value == nil && smallest.key?.count == 1_024 && smallest.topic == "d")
        #expect(smallestDeadLetter(ProducedRecord(topic: "d", value: nil)).key == nil)
    }
}
