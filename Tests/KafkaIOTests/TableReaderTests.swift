import KafkaModel
import NewsModel
import TestSupport
import Testing

@testable import KafkaIO

@Suite(.ownThread, .timeLimit(.minutes(5))) struct TableReaderTests {
    @Test(.enabled(if: Broker.external != nil, "needs a real broker (NEWSWIRE_TEST_BROKERS)"))
    func `a topic that is deleted and recreated within moments is detected`() throws {
        let broker = try Broker(("table", 2))
        let publisher = try RecordPublisher(settings: broker.settings)
        for index in 0..<6 {
            try publisher.publish(
                ProducedRecord(topic: broker.topic("table"), partition: Int32(index % 2), key: [1], value: [2]))
        }
        try publisher.flush()
        let reader = try TableReader(
            settings: broker.settings, topic: broker.topic("table"), admin: KafkaAdmin(settings: broker.settings),
            lookInterval: .milliseconds(50))
        var ended: Set<Int32> = []
        while ended.count < 2 {
            for case .endReached(let partition, 3) in try reader.next(timeout: .seconds(1)) { ended.insert(partition) }
        }
        try broker.makeAgain("table", partitions: 2)
        let failure = #expect(throws: KafkaFailure.self) {
            while true { _ = try reader.next(timeout: .milliseconds(100)) }
        }
        #expect(["_TOPIC_MADE_AGAIN", "UNKNOWN_TOPIC_OR_PART"].contains(failure?.code))
    }
}
