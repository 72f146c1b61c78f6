import CRdkafka
import KafkaModel
import Testing

@testable import KafkaIO

extension Broker {
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
