import CRdkafka
import KafkaModel
import NewsModel

/// A consumer that reads assigned partitions without joining a group. Its calls block for at most `timeout`.
final class AssignedConsumer {
    private let client: RdClient
    private let queue: RdQueue
    private let batch = RdBatch()
    private let timeout: Int32
    private var assigned: [TopicPartition] = []
    /// Bytes read since fetching was last nudged.
    private var taken = 0
    private let nudgeEvery: Int

    /// - Parameters:
    ///   - group: the group whose committed offsets are read.
    ///   - idle: Milliseconds for which the broker waits for a record before it returns an empty answer. The end of a partition
    ///     is detected after this delay.
    convenience init(
        _ settings: KafkaSettings, group: String, partitions: Int, budget: Int = 8 << 20, timeout: Int32 = 5_000,
        isolation: String = "read_uncommitted", idle: Int = 20
    ) throws(KafkaFailure) {
        try self.init(
            settings, group: group, fetch: FetchBudget(bytes: budget, partitions: partitions).properties,
            nudgeEvery: budget / 4, timeout: timeout, isolation: isolation, idle: idle)
    }

    /// Creates a consumer for single records. It fetches as little as possible, and only what a lane reads: a record of an aborted
    /// transaction would look like one of another incarnation.
    convenience init(_ settings: KafkaSettings, examining group: String) throws(KafkaFailure) {
        try self.init(
            settings, group: group,
            fetch: [
                ("queued.min.messages", "1"), ("queued.max.messages.kbytes", "1024"),
                ("fetch.message.max.bytes", "16384"),
            ], nudgeEvery: .max, timeout: 2_000, isolation: "read_committed", idle: 20)
    }

    private init(
        _ settings: KafkaSettings, group: String, fetch: [(String, String)], nudgeEvery: Int, timeout: Int32,
        isolation: String, idle: Int
    ) throws(KafkaFailure) {
        self.timeout = timeout
        self.nudgeEvery = nudgeEvery
        let configuration = try RdConfiguration(
            settings: settings,
            defaults: fetch
                // An empty fetch shows the end of a partition.
                + [("fetch.wait.max.ms", String(idle))],
            fixed: [
                ("group.id", group), ("enable.auto.commit", "false"), ("enable.auto.offset.store", "false"),
                ("enable.partition.eof", "true"), ("auto.offset.reset", "earliest"), ("log.queue", "true"),
                ("isolation.level", isolation),
            ])
        configuration.setEvents(RD_KAFKA_EVENT_LOG | RD_KAFKA_EVENT_ERROR)
        client = try configuration.makeClient(RD_KAFKA_CONSUMER)
        // Errors and logs stay in the main queue, separate from the records.
        client.takeLogs()
        guard let queue = RdQueue.consumer(client) else {
            throw KafkaFailure(code: "_STATE", detail: "The Kafka consumer has no queue")
        }
        self.queue = queue
    }

    func assign(_ offsets: [PartitionOffset]) throws(KafkaFailure) {
        let error = RdPartitionList(offsets).withPointer { rd_kafka_assign(client.handle, $0) }
        if error != RD_KAFKA_RESP_ERR_NO_ERROR { throw KafkaFailure(error) }
        assigned = offsets.map(\.partition)
    }

    /// Stops fetching some partitions, because useless fetches delay the others.
    func unassign(_ partitions: [TopicPartition]) throws(KafkaFailure) {
        let list = RdPartitionList(capacity: partitions.count)
        for partition in partitions { list.append(partition) }
        let error = list.withPointer { rd_kafka_incremental_unassign(client.handle, $0) }
        if let error { throw KafkaFailure(consuming: error, during: "Partitions could not be given back") }
        assigned.removeAll(where: partitions.contains)
    }

    /// Returns the group's committed offsets. Partitions without one are absent.
    func committed(_ partitions: [TopicPartition]) throws(KafkaFailure) -> [TopicPartition: Int64] {
        if partitions.isEmpty { return [:] }
        let list = RdPartitionList(capacity: partitions.count)
        for partition in partitions { list.append(partition) }
        let error = list.withPointer { rd_kafka_committed(client.handle, $0, timeout) }
        if error != RD_KAFKA_RESP_ERR_NO_ERROR {
            throw client.explained(error, during: "The group's committed offsets could not be read")
        }
        return try Self.offsets(list)
    }

    /// Returns the group's committed offsets, each with its own error. Without a commit, the offset is negative.
    func committedEach(_ partitions: [TopicPartition]) throws(KafkaFailure) -> [RdPartitionList.Element] {
        if partitions.isEmpty { return [] }
        let list = RdPartitionList(capacity: partitions.count)
        for partition in partitions { list.append(partition) }
        let error = list.withPointer { rd_kafka_committed(client.handle, $0, timeout) }
        let elements = list.elements
        // If every partition failed, the call fails too; the partitions' own errors explain why.
        if error != RD_KAFKA_RESP_ERR_NO_ERROR && elements.contains(where: { $0.error == RD_KAFKA_RESP_ERR_NO_ERROR }) {
            throw client.explained(error, during: "The group's committed offsets could not be read")
        }
        return elements
    }

    /// Every topic this user may see.
    func topics() throws(KafkaFailure) -> [String: TopicDescription] {
        try client.topics(timeout: timeout)
    }

    /// Returns the broker's error for a topic; `nil` if it describes the topic. A consumer's request creates no topic.
    func failure(of topic: String) throws(KafkaFailure) -> KafkaFailure? {
        let handle = rd_kafka_topic_new(client.handle, topic, nil)
        defer { if let handle { rd_kafka_topic_destroy(handle) } }
        var metadata: UnsafePointer<rd_kafka_metadata>?
        let error = rd_kafka_metadata(client.handle, 0, handle, &metadata, timeout)
        guard error == RD_KAFKA_RESP_ERR_NO_ERROR, let metadata else {
            throw client.explained(error, during: "Topic \(topic) could not be looked for")
        }
        defer { rd_kafka_metadata_destroy(metadata) }
        let topics = UnsafeBufferPointer(start: metadata.pointee.topics, count: Int(metadata.pointee.topic_cnt))
        return topics.first { $0.err != RD_KAFKA_RESP_ERR_NO_ERROR }.map {
            KafkaFailure($0.err, detail: "Topic \(topic) may not be seen by this user")
        }
    }

    /// Returns the first offset kept and the offset after the last one.
    func watermarks(_ partition: TopicPartition) throws(KafkaFailure) -> Range<Int64> {
        try client.watermarks(partition, milliseconds: timeout)
    }

    /// Returns the end of a partition according to the last fetch, including records in open transactions; `nil` before the
    /// first fetch. Never blocks.
    func lastSeenEnd(_ partition: TopicPartition) -> Int64? {
        var (low, high) = (Int64(RD_KAFKA_OFFSET_INVALID), Int64(RD_KAFKA_OFFSET_INVALID))
        let error = rd_kafka_get_watermark_offsets(
            client.handle, partition.topic, partition.partition, &low, &high)
        return error == RD_KAFKA_RESP_ERR_NO_ERROR && high >= 0 ? high : nil
    }

    /// Returns the ranges of several partitions with the same leader. Unreadable partitions are absent.
    func ranges(_ partitions: [TopicPartition]) throws(KafkaFailure) -> [TopicPartition: Range<Int64>] {
        try client.ranges(partitions, milliseconds: 3_000)
    }

    /// Returns the first offset at or after a time. Partitions without such an offset are absent.
    func offsets(
        for time: Instant, _ partitions: [TopicPartition]
    ) throws(KafkaFailure) -> [TopicPartition: Int64] {
        let list = RdPartitionList(capacity: partitions.count)
        for partition in partitions { list.append(partition, max(time.milliseconds, 0)) }
        let error = list.withPointer { rd_kafka_offsets_for_times(client.handle, $0, timeout) }
        if error != RD_KAFKA_RESP_ERR_NO_ERROR {
            throw client.explained(error, during: "The offsets of a time could not be read")
        }
        return try Self.offsets(list)
    }

    private static func offsets(_ list: RdPartitionList) throws(KafkaFailure) -> [TopicPartition: Int64] {
        var result: [TopicPartition: Int64] = [:]
        for element in list.elements {
            guard element.error == RD_KAFKA_RESP_ERR_NO_ERROR else { throw KafkaFailure(element.error) }
            if element.offset >= 0 { result[element.partition] = element.offset }
        }
        return result
    }

    /// Returns the most useful error of the connections since the last call.
    func worstError() -> KafkaFailure? { client.worstError() }

    /// Reads the available messages, waiting up to `milliseconds` for the first one. Returns the number of messages.
    ///
    /// - Parameter isExpecting: true if every assigned partition has further records.
    func read(
        limit: Int = RdBatch.capacity, milliseconds: Int32, isExpecting: Bool = false,
        _ body: (TopicPartition, UnsafePointer<rd_kafka_message_t>) -> Void
    ) -> Int {
        if taken >= nudgeEvery { nudge() }
        var topic = ""
        var handle: OpaquePointer?
        func hand(_ message: UnsafePointer<rd_kafka_message_t>) {
            if handle != message.pointee.rkt, message.pointee.rkt != nil {
                handle = message.pointee.rkt
                topic = rd_kafka_topic_name(handle).map { String(cString: $0) } ?? ""
            }
            taken += message.pointee.len
            body(TopicPartition(topic: topic, partition: message.pointee.partition), message)
        }
        let count = batch.read(queue, limit: limit, milliseconds: min(milliseconds, Self.normalPause), hand)
        if count > 0 || milliseconds <= Self.normalPause { return count }
        // The queues are empty after some were full. The thread that fills them may be asleep.
        if taken > 0 || isExpecting { nudge() }
        return batch.read(queue, limit: limit, milliseconds: milliseconds - Self.normalPause, hand)
    }

    /// Milliseconds that may normally pass without a message.
    private static let normalPause: Int32 = 5

    private func nudge() {
        taken = 0
        if FetchNudge.isNeeded { FetchNudge.nudge(client, assigned) }
    }
}
