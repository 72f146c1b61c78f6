import NewsModel

extension TopicPartition {
    /// The partition of the same number in another topic.
    func with(topic: String) -> TopicPartition { TopicPartition(topic: topic, partition: partition) }
}
