import CRdkafka
import KafkaModel
import NewsModel
import Testing

@testable import KafkaIO

extension Broker {
    /// Sends a request of librdkafka's admin interface, and waits for its answer.
    private func ask(_ send: (_ client: OpaquePointer, _ answers: OpaquePointer) -> Void) throws {
        let client = try RdConfiguration(settings: settings, fixed: []).makeClient(RD_KAFKA_PRODUCER)
        let answers = try #require(rd_kafka_queue_new(client.handle))
        defer { rd_kafka_queue_destroy(answers) }
        send(client.handle, answers)
        let answer = try #require(rd_kafka_queue_poll(answers, 10_000))
        rd_kafka_event_destroy(answer)
    }

    /// Deletes the records of a partition below an offset.
    func delete(_ partition: TopicPartition, below offset: Int64) throws {
        var requests = [
            RdPartitionList([PartitionOffset(partition, offset)]).withPointer { rd_kafka_DeleteRecords_new($0) }
        ]
        defer { rd_kafka_DeleteRecords_destroy(requests[0]) }
        try ask { rd_kafka_DeleteRecords($0, &requests, 1, nil, $1) }
    }

    /// Deletes a topic and immediately recreates it.
    func makeAgain(_ name: String, partitions: Int) throws {
        let topic = topic(name)
        var deletions = [rd_kafka_DeleteTopic_new(topic)]
        defer { rd_kafka_DeleteTopic_destroy(deletions[0]) }
        try ask { rd_kafka_DeleteTopics($0, &deletions, 1, nil, $1) }
        let admin = try KafkaAdmin(settings: settings)
        // Creating an existing topic causes no failure, so this checks its length. Not every client knows a new topic at once.
        repeat {
            try admin.create([.init(name: topic, partitions: partitions)])
        } while (try? admin.watermarks(partition(name, 0)).isEmpty) != true
    }
}
