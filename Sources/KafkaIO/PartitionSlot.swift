import NewsModel

/// One assigned partition and its queue.
final class PartitionSlot {
    let partition: TopicPartition
    let queue: RdQueue
    var isHeld = true
    /// Bytes taken since fetching was last nudged.
    var taken = 0
    /// Bytes of a record here, about: the mean of the last batch.
    private var recordSize = 1024

    init?(_ partition: TopicPartition, _ client: RdClient, _ wakeUp: WakeUp) {
        guard let queue = RdQueue.detached(partition, client) else { return nil }
        self.partition = partition
        self.queue = queue
        queue.wake(wakeUp)
    }

    /// How many records probably fit into `bytes`; at least one.
    func likelyRecords(in bytes: Int) -> Int { max(1, min(bytes / recordSize, RdBatch.capacity)) }

    func learn(records: Int, bytes: Int) {
        taken += bytes
        if records > 0 { recordSize = max(1, bytes / records) }
    }
}
