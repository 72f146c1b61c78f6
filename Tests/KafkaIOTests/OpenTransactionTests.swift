import CRdkafka
import KafkaModel
import NewsModel
import TestSupport
import Testing

@testable import KafkaIO

/// Readers of a topic on which another producer's transaction is open. The embedded broker hides no records.
@Suite(
    .ownThread, .timeLimit(.minutes(5)), .enabled(if: Broker.external != nil, "needs a broker that has transactions"))
struct OpenTransactionTests {
    /// Writes a record in a transaction, and leaves that open as long as the client exists.
    private func openTransaction(_ broker: Broker, _ name: String) throws -> RdClient {
        let client = try RdConfiguration(
            settings: broker.settings, fixed: [("transactional.id", broker.topic("other"))]
        )
        .makeClient(RD_KAFKA_PRODUCER)
        try #require(rd_kafka_init_transactions(client.handle, 30_000) == nil)
        try #require(rd_kafka_begin_transaction(client.handle) == nil)
        let record = ProducedRecord(topic: broker.topic(name), partition: 0, value: Array("other".utf8))
        try #require(record.produce(client, topicHandle: nil, opaque: 0) == RD_KAFKA_RESP_ERR_NO_ERROR)
        try #require(rd_kafka_flush(client.handle, 10_000) == RD_KAFKA_RESP_ERR_NO_ERROR)
        return client
    }

    private func publish(_ values: [String], _ broker: Broker, _ name: String) throws {
        let publisher = try RecordPublisher(settings: broker.settings)
        for value in values {
            try publisher.publish(ProducedRecord(topic: broker.topic(name), partition: 0, value: Array(value.utf8)))
        }
        try publisher.flush()
    }

    private func values(_ reader: TopicReader) throws -> [String] {
        var values: [String] = []
        while !reader.isAtEnd {
            values += try reader.next().map { String(decoding: $0.record.value ?? [], as: UTF8.self) }
        }
        return values
    }

    @Test(arguments: [TopicReader.Start.beginning, .time(hourAgo), .offset(2)])
    func `a reader of uncommitted records reads what stands behind an open transaction`(
        start: TopicReader.Start
    ) throws {
        let broker = try Broker(("news", 1))
        try publish(["a"], broker, "news")
        let transaction = try openTransaction(broker, "news")
        try publish(["b", "c"], broker, "news")
        try withExtendedLifetime(transaction) {
            let reader = try TopicReader(
                settings: broker.settings, topic: broker.topic("news"), from: start, readsUncommitted: true)
            #expect(try values(reader).suffix(2) == ["b", "c"])
        }
    }

    @Test func `a reader of committed records tells whether an open transaction hides others`() throws {
        let broker = try Broker(("news", 2))
        try publish(["a"], broker, "news")
        func reader() throws -> TopicReader {
            try TopicReader(settings: broker.settings, topic: broker.topic("news"))
        }
        let before = try reader()
        #expect(try values(before) == ["a"])
        #expect(!before.hasHiddenRecords())
        let transaction = try openTransaction(broker, "news")
        let during = try reader()
        #expect(try values(during) == ["a"])
        #expect(during.hasHiddenRecords())
        try #require(rd_kafka_commit_transaction(transaction.handle, 10_000) == nil)
        let after = try reader()
        #expect(try values(after) == ["a", "other"])
        #expect(!after.hasHiddenRecords())
    }

    @Test func `a reader that follows a topic tells whether an open transaction hides what came later`() throws {
        let broker = try Broker(("news", 2))
        try publish(["a"], broker, "news")
        let reader = try TopicReader(settings: broker.settings, topic: broker.topic("news"), follow: true)
        try publish(["b"], broker, "news")
        #expect(!reader.hasHiddenRecords())
        let transaction = try openTransaction(broker, "news")
        withExtendedLifetime(transaction) { #expect(reader.hasHiddenRecords()) }
    }
}
