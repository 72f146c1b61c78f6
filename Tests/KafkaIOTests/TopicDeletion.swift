import CRdkafka
import KafkaModel
import NewsModel
import Testing

@testable import KafkaIO

extension Broker {
    /// Deletes the records of a partition below an offset.
    func delete(_ partition: TopicPartition, below offset: Int64) throws {
        let client = try RdConfiguration(settings: settings, fixed: []).makeClient(RD_KAFKA_PRODUCER)
        var requests = [
            RdPartitionList([PartitionOffset(partition, offset)]).withPointer { rd_kafka_DeleteRecords_new($0) }
        ]
        defer { rd_kafka_DeleteRecords_destroy(requests[0]) }
        let answers = try #require(rd_kafka_queue_new(client.handle))
        defer { rd_kafka_queue_destroy(answers) }
        rd_kafka_DeleteRecords(client.handle, &requests, 1, nil, answers)
        let answer = try #require(rd_kafka_queue_poll(answers, 10_000))
        rd_kafka_event_destroy(answer)
    }

    /// Deletes a topic and immediately recreates it.
    func makeAgain(_ name: String, partitions: Int) throws {
        let topic = topic(name)
        let client = try RdConfiguration(settings: settings, fixed: []).makeClient(RD_KAFKA_PRODUCER)
        var deletions = [rd_kafka_DeleteTopic_new(topic)]
        defer { rd_kafka_DeleteTopic_destroy(deletions[0]) }
        let answers = try #require(rd_kafka_queue_new(client.handle))
        defer { rd_kafka_queue_destroy(answers) }
        rd_kafka_DeleteTopics(client.handle, &deletions, 1, nil, answers)
        let answer = try #require(rd_kafka_queue_poll(answers, 10_000))
        rd_kafka_event_destroy(answer)
        let admin = try KafkaAdmin(settings: settings)
        // Creating an existing topic causes no failure, so this checks its length. Not every client knows a new topic at once.
        repeat {
            try admin.create([.init(name: topic, partitions: partitions)])
        } while (try? admin.watermarks(partition(name, 0)).isEmpty) != true
    }
}
