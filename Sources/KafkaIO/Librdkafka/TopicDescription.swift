import CRdkafka
import KafkaModel

/// A topic in the cluster's metadata.
struct TopicDescription {
    var count: Int
    /// The broker that leads each partition that has a leader.
    private var leaders: [Int32: Int32]

    init(_ topic: rd_kafka_metadata_topic) {
        count = Int(topic.partition_cnt)
        leaders = [:]
        for partition in UnsafeBufferPointer(start: topic.partitions, count: count) where partition.leader >= 0 {
            // A partition whose replicas lag still has a leader. Only these errors show a partition without a leader.
            guard partition.err != RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE else { continue }
            leaders[partition.id] = partition.leader
        }
    }

    func leader(of partition: Int32) -> Int32? { leaders[partition] }
}

extension RdClient {
    /// Returns every topic that this user may see. Blocks for at most `timeout` milliseconds.
    ///
    /// Requests all topics, because a request for one by name would create it on many brokers.
    func topics(timeout: Int32) throws(KafkaFailure) -> [String: TopicDescription] {
        var metadata: UnsafePointer<rd_kafka_metadata>?
        let error = rd_kafka_metadata(handle, 1, nil, &metadata, timeout)
        guard error == RD_KAFKA_RESP_ERR_NO_ERROR, let metadata else {
            throw explained(error)
        }
        defer { rd_kafka_metadata_destroy(metadata) }
        var topics: [String: TopicDescription] = [:]
        for topic in UnsafeBufferPointer(start: metadata.pointee.topics, count: Int(metadata.pointee.topic_cnt))
        where topic.err == RD_KAFKA_RESP_ERR_NO_ERROR {
            topics[String(cString: topic.topic)] = TopicDescription(topic)
        }
        return topics
    }
}
