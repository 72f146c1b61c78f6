import CRdkafka
public import KafkaModel
public import NewsModel

/// Reads a topic for a tool or a test, without a group or commits. Its calls block. Use it from one thread at a time.
public final class TopicReader {
    public enum Start: Sendable, Hashable {
        case beginning, end
        case offset(Int64)
        /// An offset for each partition; partitions without one start at the beginning. A partition that ends before its offset
        /// was recreated. It is read from its beginning and added to `restarted`.
        case offsets([TopicPartition: Int64])
        /// The first record at or after the time. The beginning on brokers without a time index, such as librdkafka's mock.
        case time(Instant)
        /// This many records before the end of each partition.
        case last(Int64)
    }

    public struct ReadRecord: Sendable, Hashable {
        public var partition: TopicPartition
        public var record: SourceRecord
    }

    public let topic: String
    private let settings: KafkaSettings
    private let consumer: AssignedConsumer
    private let follow: Bool
    /// Partitions whose end was not reached yet, with the end they had when the reader was created.
    private var ends: [TopicPartition: Int64] = [:]
    /// Partitions that have records before the first one to be read.
    public private(set) var shortened: Set<TopicPartition> = []
    /// The end of each partition when the reader was created.
    public private(set) var endsThen: [TopicPartition: Int64] = [:]
    /// The first offset of each partition when the reader was created.
    public private(set) var startsThen: [TopicPartition: Int64] = [:]
    /// Partitions that end before their start offset.
    public private(set) var restarted: Set<TopicPartition> = []
    /// Offsets at which reading reached the end of readable records, by partition.
    private var pauses: [TopicPartition: Int64] = [:]
    /// The kind of end to reach. At the high watermark, open transactions may hide records, so they must end first.
    private let end: KafkaAdmin.End
    /// Time of the first read. A partition that others keep writing to counts as ended seconds later.
    private var began: ContinuousClock.Instant?

    /// Finds the partitions and their present ends.
    ///
    /// - Parameters:
    ///   - partitions: the partitions to read; `nil` for all.
    ///   - follow: true to continue with records written after the reader was created.
    ///   - end: the kind of end to reach. Only committed records are read, so a reader to the high watermark waits for open
    ///     transactions.
    ///   - readsUncommitted: true to read every stored record, including those of open and aborted transactions. No transaction
    ///     delays such a reader, which always reaches the high watermark.
    public init(
        settings: KafkaSettings, topic: String, partitions: [Int32]? = nil, from start: Start = .beginning,
        follow: Bool = false, end: KafkaAdmin.End = .lastStable, readsUncommitted: Bool = false,
        timeout: Duration = .seconds(10)
    ) throws(KafkaFailure) {
        self.topic = topic
        self.settings = settings
        self.end = end
        let admin = try KafkaAdmin(settings: settings, timeout: timeout)
        guard let count = try admin.partitionCounts(of: [topic])[topic] else {
            throw KafkaFailure(RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, detail: "Topic \(topic) does not exist")
        }
        let wanted = (partitions ?? Array(0..<Int32(clamping: count))).map {
            TopicPartition(topic: topic, partition: $0)
        }
        self.follow = follow
        consumer = try AssignedConsumer(
            settings, group: settings.group, partitions: wanted.count,
            timeout: Int32(clamping: timeout.nanoseconds / 1_000_000),
            isolation: readsUncommitted ? "read_uncommitted" : "read_committed")
        var ranges: [TopicPartition: Range<Int64>] = [:]
        // librdkafka reports no end to a reader that starts behind the start of an open transaction.
        var latestStarts: [TopicPartition: Int64] = [:]
        for partition in wanted {
            let readable = try consumer.watermarks(partition)
            latestStarts[partition] = readable.upperBound
            ranges[partition] = end == .lastStable ? readable : try admin.watermarks(partition)
        }
        var times: [TopicPartition: Int64] = [:]
        if case .time(let time) = start { times = try Self.offsets(for: time, ranges, consumer) }
        var assignment: [PartitionOffset] = []
        for partition in wanted {
            guard let range = ranges[partition] else { continue }
            (startsThen[partition], endsThen[partition]) = (range.lowerBound, range.upperBound)
            let asked =
                switch start {
                case .beginning: range.lowerBound
                case .end: range.upperBound
                case .offset(let offset): max(offset, range.lowerBound)
                case .offsets(let offsets):
                    offsets[partition].flatMap { range.upperBound < $0 ? nil : max($0, range.lowerBound) }
                        ?? range.lowerBound
                case .time: times[partition] ?? range.upperBound
                case .last(let count): max(range.upperBound - max(count, 0), range.lowerBound)
                }
            if case .offsets(let offsets) = start, let offset = offsets[partition], range.upperBound < offset {
                restarted.insert(partition)
            }
            let first = min(asked, latestStarts[partition] ?? asked)
            if first > range.lowerBound { shortened.insert(partition) }
            if start != .end, first < range.upperBound { ends[partition] = range.upperBound }
            if start != .end || follow {
                assignment.append(PartitionOffset(partition, first))
            }
        }
        if !assignment.isEmpty { try consumer.assign(assignment) }
    }

    /// Returns the first offset at or after the time. Partitions without one are absent.
    private static func offsets(
        for time: Instant, _ ranges: [TopicPartition: Range<Int64>], _ consumer: AssignedConsumer
    ) throws(KafkaFailure) -> [TopicPartition: Int64] {
        var found = try consumer.offsets(for: time, Array(ranges.keys))
        let open = ranges.filter { found[$0.key] == nil && !$0.value.isEmpty }
        if open.isEmpty { return found }
        // A broker that cannot find the earliest possible time has no time index.
        let known = try consumer.offsets(for: Instant(milliseconds: 0), Array(open.keys))
        for (partition, range) in open where known[partition] == nil { found[partition] = range.lowerBound }
        return found
    }

    /// The first offset of the first partition when the reader was created; 0 for a topic without partitions.
    public var start: Int64 { startsThen.min { $0.key.partition < $1.key.partition }?.value ?? 0 }

    /// True if records may have been removed that a reader from a time would have read: a partition has lost its first records,
    /// and keeps none before that time.
    public var mayLackRecords: Bool { startsThen.contains { $1 > 0 && !shortened.contains($0) } }

    /// True if the end of every partition was reached once.
    public var isAtEnd: Bool { ends.isEmpty }

    /// Returns true if records were removed from the start of a partition since the reader was created, by retention or by an
    /// administrator. Partitions whose leaders do not answer do not count.
    public func hasLostRecords() -> Bool {
        startsThen.contains { partition, start in
            (try? consumer.watermarks(partition)).map { $0.lowerBound > start } ?? false
        }
    }

    /// Returns true if an open transaction hides records behind the end that the topic had when the reader was created. For a reader
    /// that follows the topic, they may also stand behind later records. Only for a reader to the last stable offset that has
    /// reached its end. Partitions whose leaders do not answer do not count.
    public func hasHiddenRecords() -> Bool {
        guard let admin = try? KafkaAdmin(settings: settings), let high = try? admin.ends(of: topic) else {
            return false
        }
        return endsThen.contains { partition, end in
            guard let high = high[partition.partition], high > end,
                let stable = try? consumer.watermarks(partition).upperBound
            else { return false }
            return Self.isHeldUp(at: follow ? stable : end, stable: stable, high: high)
        }
    }

    /// Returns true if a transaction hides what stands behind an offset.
    ///
    /// - Parameters:
    ///   - stable: the last stable offset, read after `high`. Otherwise, new records would look like hidden ones.
    ///   - high: the high watermark.
    static func isHeldUp(at offset: Int64, stable: Int64, high: Int64) -> Bool { stable <= offset && stable < high }

    /// True while an open transaction hides records, which are read after it ends. Also briefly true while new records have not
    /// been fetched. Only for a reader to the high watermark.
    public var isHeldUp: Bool {
        end == .highWatermark
            && pauses.contains { partition, offset in
                consumer.lastSeenEnd(partition).map { $0 > offset } ?? false
            }
    }

    /// Returns up to `limit` records, at most 256, in order within each partition. Empty on a timeout and, unless following, at
    /// the end.
    public func next(
        max limit: Int = 256, timeout: Duration = .seconds(1)
    ) throws(KafkaFailure) -> [ReadRecord] {
        if isAtEnd && !follow { return [] }
        let began = self.began ?? .now
        self.began = began
        var records: [ReadRecord] = []
        var failure: KafkaFailure?
        let deadline = ContinuousClock.now + timeout
        var count: Int
        repeat {
            let wait = Int32(clamping: Swift.max((deadline - .now).nanoseconds, 0) / 1_000_000)
            count = consumer.read(limit: Swift.max(limit, 1), milliseconds: wait) { partition, message in
                switch message.pointee.err {
                case RD_KAFKA_RESP_ERR_NO_ERROR:
                    let offset = message.pointee.offset
                    if !pauses.isEmpty { pauses[partition] = nil }
                    if let end = ends[partition], offset >= end, began + .seconds(5) < .now { ends[partition] = nil }
                    if ends[partition] == nil && !follow { return }
                    records.append(ReadRecord(partition: partition, record: SourceRecord(message)))
                    // Waiting for an empty fetch would take the broker's full waiting time.
                    if let end = ends[partition], offset >= end - 1 { ends[partition] = nil }
                case RD_KAFKA_RESP_ERR__PARTITION_EOF:
                    let offset = message.pointee.offset
                    if end == .highWatermark { pauses[partition] = offset }
                    if end == .lastStable || ends[partition].map({ offset >= $0 }) ?? true { ends[partition] = nil }
                case let error: failure = KafkaFailure(error, during: "Reading \(partition) failed")
                }
            }
            // The end of a partition arrives as a message, but is not a record.
        } while records.isEmpty && failure == nil && count > 0 && (follow || !isAtEnd) && deadline > .now
        // A failed partition reports its error again, but records arrive only once.
        if records.isEmpty, let failure { throw failure }
        if count == 0, let error = consumer.worstError(), !error.isRetriable { throw error }
        return records
    }
}
