import CRdkafka
public import KafkaModel
public import NewsModel

/// Reads a topic from its first offset without joining a group, and follows it. This yields the current records of a compacted
/// topic. Copies keys and headers, and values only if asked to.
///
/// Detects added partitions and recreated topics within seconds, because librdkafka does not. Its calls block. Use it from one
/// thread at a time.
public final class TableReader {
    public struct Row: Sendable, Hashable {
        public var offset: Int64
        public var timestamp: Instant?
        public var key: [UInt8]?
        /// `false` for a tombstone.
        public var hasValue: Bool
        public var headers: [RecordHeader]
        /// `nil` for a tombstone, and if the reader leaves values out.
        public var value: [UInt8]?
    }

    public enum Event: Sendable, Hashable {
        /// Rows of one partition, sorted by offset.
        case rows(partition: Int32, [Row])
        /// Every record of the partition before the offset was read. The offset was the partition's end at that time.
        case endReached(partition: Int32, offset: Int64)
        /// Reading a partition failed and is retried.
        case failed(KafkaFailure)
    }

    private let topic: String
    private let admin: KafkaAdmin
    private let consumer: AssignedConsumer
    /// The next offset of each partition, by the partition's number.
    private var positions: [Int64] = []
    private var looksAt = ContinuousClock.Instant.now

    private let lookInterval: Duration
    private let hasValues: Bool

    /// - Parameters:
    ///   - admin: Client for requests about partitions.
    ///   - lookInterval: Time between checks of the topic's partitions and their ends.
    ///   - hasValues: True to copy values too.
    /// - Throws: `UNKNOWN_TOPIC_OR_PART` if the topic does not exist; otherwise the reason why it cannot be read.
    public init(
        settings: KafkaSettings, topic: String, admin: KafkaAdmin, lookInterval: Duration = .seconds(10),
        hasValues: Bool = false
    ) throws(KafkaFailure) {
        self.topic = topic
        self.lookInterval = lookInterval
        self.hasValues = hasValues
        self.admin = admin
        guard let count = try admin.partitionCounts(of: [topic])[topic] else { throw Self.missing(topic) }
        consumer = try AssignedConsumer(settings, group: settings.group, partitions: count, budget: 4 << 20, idle: 250)
        try grow(to: count)
    }

    private static func missing(_ topic: String) -> KafkaFailure {
        KafkaFailure(RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, detail: "Topic \(topic) does not exist")
    }

    private func grow(to count: Int) throws(KafkaFailure) {
        positions += Array(repeating: Int64(RD_KAFKA_OFFSET_BEGINNING), count: count - positions.count)
        try consumer.assign(
            positions.enumerated().map {
                PartitionOffset(TopicPartition(topic: topic, partition: Int32(clamping: $0.offset)), $0.element)
            })
        looksAt = .now + lookInterval
    }

    public var partitionCount: Int { positions.count }

    /// Returns the events within the timeout, from at most 256 records.
    ///
    /// - Throws: an error if the topic was deleted or recreated, or if the client has failed permanently.
    public func next(timeout: Duration) throws(KafkaFailure) -> [Event] {
        if looksAt <= .now {
            looksAt = .now + lookInterval
            try look()
        }
        var events: [Event] = []
        var rows: [Row] = []
        var partition: Int32 = 0
        func close() {
            if !rows.isEmpty { events.append(.rows(partition: partition, rows)) }
            rows = []
        }
        var failure: KafkaFailure?
        let wait = Int32(clamping: timeout.nanoseconds / 1_000_000)
        _ = consumer.read(milliseconds: wait) { place, message in
            if place.partition != partition { close() }
            partition = place.partition
            switch message.pointee.err {
            case RD_KAFKA_RESP_ERR_NO_ERROR:
                let offset = message.pointee.offset
                rows.append(
                    Row(
                        offset: offset, timestamp: message.timestamp, key: message.key,
                        hasValue: message.pointee.payload != nil, headers: message.headers,
                        value: hasValues ? SourceRecord(message).value : nil))
                if positions.indices.contains(Int(partition)) { positions[Int(partition)] = offset + 1 }
            case RD_KAFKA_RESP_ERR__PARTITION_EOF:
                close()
                events.append(.endReached(partition: partition, offset: message.pointee.offset))
            case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART: failure = Self.missing(topic)
            case let error: events.append(.failed(KafkaFailure(error, during: "Reading \(place) failed")))
            }
        }
        close()
        if let failure { throw failure }
        if let error = consumer.worstError() {
            guard error.isRetriable || error.isTimeout else { throw error }
        }
        return events
    }

    /// Checks the topic's partitions and ends. Does nothing if the brokers do not answer.
    private func look() throws(KafkaFailure) {
        guard let counts = try? admin.partitionCounts(of: [topic]) else { return }
        guard let count = counts[topic] else { throw Self.missing(topic) }
        if count > positions.count { try grow(to: count) }
        guard let ends = try? admin.ends(of: topic) else { return }
        for (partition, end) in ends where positions.indices.contains(Int(partition)) && positions[Int(partition)] > end
        {
            throw KafkaFailure(
                code: "_TOPIC_MADE_AGAIN", isRetriable: true,
                detail: "Topic \(topic) ends before what was read of it: it was deleted and made again, or cut back")
        }
    }
}
