import CRdkafka
import KafkaModel

/// Topics that a producer will write to. librdkafka looks for the leader of a new topic once a second, which would delay the
/// first record.
final class PreparedTopics {
    private let client: RdClient
    private var handles: [String: OpaquePointer] = [:]

    init(_ client: RdClient) { self.client = client }

    deinit { for handle in handles.values { rd_kafka_topic_destroy(handle) } }

    /// Looks for the leaders while this object exists. Many brokers create a missing topic.
    func add(_ topics: [String]) {
        for topic in topics where handles[topic] == nil {
            handles[topic] = rd_kafka_topic_new(client.handle, topic, nil)
        }
    }

    func wait(milliseconds: Int32) throws(KafkaFailure) {
        for (topic, handle) in handles {
            var metadata: UnsafePointer<rd_kafka_metadata>?
            let error = rd_kafka_metadata(client.handle, 0, handle, &metadata, milliseconds)
            if let metadata { rd_kafka_metadata_destroy(metadata) }
            if error != RD_KAFKA_RESP_ERR_NO_ERROR {
                throw client.explained(error, during: "The leader of topic \(topic) could not be found")
            }
        }
    }
}
