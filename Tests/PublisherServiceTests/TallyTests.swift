import KafkaModel
import NewsModel
import NotificationHub
import PublishEngine
import Testing

@testable import PublisherService

/// The counts of a shard, which become metrics.
@Suite struct TallyTests {
    @Test func `interests that nobody can follow are one count, whatever their texts`() {
        var tally = Tally(lanes: 1, categories: 0)
        let names = Set(tally.lanes[0].cuts.keys)
        for number in 0..<100 {
            let request = StoreRequest(
                delivery: DeliveryID(rawValue: 1),
                result: ResultRecord(
                    eventID: "e", platform: .template, outcome: .accepted, lane: "live",
                    source: .init(partition: TopicPartition(topic: "news", partition: 0), offset: 0),
                    settledAt: Instant(milliseconds: 1), cut: ["title", "interest author:\(number): unknown kind"]),
                version: nil, identity: RecordIdentity(hash: 7), carried: [])
            tally.count(request, lane: 0)
        }
        #expect(Set(tally.lanes[0].cuts.keys) == names)
        #expect(tally.lanes[0].cuts["interest"] == 100)
    }
}
