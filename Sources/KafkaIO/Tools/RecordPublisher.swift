import CRdkafka
public import KafkaModel
import NewsModel

/// Writes many records at the broker's speed, in order within a partition and each stored once. Its calls block. Use it from one
/// thread at a time.
///
/// A record whose batch was refused is sent again alone and may then follow later records. `KafkaAdmin.limitingBatches` prevents
/// such refusals.
public final class RecordPublisher {
    private let clients: ProducerPair
    private var acknowledgedAhead: Set<Int> = []
    private var failure: KafkaFailure?
    private let skipsRefused: Bool
    private let prepared: PreparedTopics
    private var refused: [Refusal] = []
    private var offsets = AcknowledgedOffsets()
    /// Number of failed records that the broker may still have stored.
    private var unknown = 0
    /// Number of records that the broker has stored or refused, or that were dropped.
    private var settled = 0

    /// A record that the broker never stores, however often it is retried.
    public struct Refusal: Sendable, Hashable {
        public var index: Int
        public var failure: KafkaFailure
    }

    /// Number of accepted records, which is the index of the next one.
    public private(set) var published = 0
    /// Number of records on every in-sync replica.
    public private(set) var acknowledged = 0
    /// Partition and offset of the last acknowledged record.
    public private(set) var lastStored: (partition: Int32, offset: Int64)?
    /// A topic that was deleted and recreated, or cut back, since this publisher wrote to it: a later record has no later offset.
    /// Earlier records may be gone. The publisher continues.
    public private(set) var recreatedTopic: String?
    /// All records with a smaller index are acknowledged, or refused and skipped. Resume here.
    public private(set) var contiguous = 0

    /// - Parameter skipsRefused: if true, `takeRefused` reports records that the broker refuses, e.g. for their size, and the
    ///   others continue. Otherwise such a record ends the publisher, as any other failure does.
    public init(settings: KafkaSettings, skipsRefused: Bool = false) throws(KafkaFailure) {
        self.skipsRefused = skipsRefused
        clients = try ProducerPair(
            settings: settings,
            defaults: [
                ("linger.ms", "20"), ("queue.buffering.max.kbytes", String(max(settings.produceBudget >> 10, 1024))),
                ("message.max.bytes", "16000000"),
                // Same partitioner as Java's producers, so that all versions of a story share a partition.
                ("partitioner", "murmur2_random"),
            ])
        prepared = PreparedTopics(clients.batching)
    }

    /// Finds the leaders of existing topics, so that the first record is not delayed.
    public func prepare(_ topics: [String], timeout: Duration = .seconds(5)) throws(KafkaFailure) {
        prepared.add(topics)
        try prepared.wait(milliseconds: Int32(clamping: timeout.nanoseconds / 1_000_000))
    }

    /// Accepts a record, waiting for room if the queue is full.
    ///
    /// - Throws: the error of this record, or the first failure of an earlier one. After the former, further records are
    ///   accepted; after the latter, all are refused.
    public func publish(_ record: ProducedRecord, timeout: Duration = .seconds(60)) throws(KafkaFailure) {
        let deadline = ContinuousClock.now + timeout
        serve(milliseconds: 0)
        while true {
            if let failure { throw failure }
            switch record.produce(clients.batching, topicHandle: nil, opaque: UInt(published)) {
            case RD_KAFKA_RESP_ERR_NO_ERROR:
                published += 1
                return
            case RD_KAFKA_RESP_ERR__QUEUE_FULL where deadline > .now: serve(milliseconds: 100)
            case let error: throw clients.batching.notStored(error, on: record.topic)
            }
        }
    }

    /// Waits until all records are acknowledged.
    ///
    /// - Throws: the first failure, or a timeout. `contiguous` shows the progress.
    public func flush(timeout: Duration = .seconds(60)) throws(KafkaFailure) {
        let deadline = ContinuousClock.now + timeout
        while settled < published {
            _ = settle(within: .milliseconds(100))
            if let failure { throw failure }
            guard deadline > .now else { throw silence }
        }
        if let failure { throw failure }
    }

    /// Waits until the broker has answered every record, positively or not.
    ///
    /// - Returns: `false` if the limit is reached first.
    public func settle(within limit: Duration) -> Bool {
        let deadline = ContinuousClock.now + limit
        clients.sendNow()
        repeat {
            let left = (deadline - .now).nanoseconds / 1_000_000
            serve(milliseconds: settled < published ? Int32(clamping: min(max(left, 0), 100)) : 0)
        } while settled < published && deadline > .now
        return settled >= published
    }

    /// Number of records that the broker has not answered.
    public var waiting: Int { published - settled }

    /// The error for a broker that has not answered in time. Blocks for up to a second, to ask if any broker answers.
    public var silence: KafkaFailure {
        KafkaFailure(lastError: lastError, isAnyBrokerThere: clients.batching.isAnyBrokerThere(timeout: 1_000))
    }

    /// The records refused since the last call.
    public func takeRefused() -> [Refusal] {
        defer { refused = [] }
        return refused
    }

    /// Returns true if the record with this index is on every in-sync replica. Not for records that were refused and skipped.
    public func isAcknowledged(_ index: Int) -> Bool { index < contiguous || acknowledgedAhead.contains(index) }

    /// Drops unacknowledged records, so that nothing more is sent. The publisher accepts no further record.
    ///
    /// - Returns: the number of records that the broker may have stored without acknowledging them.
    public func abandon() -> Int {
        if failure == nil { failure = KafkaFailure(RD_KAFKA_RESP_ERR__PURGE_QUEUE) }
        settled += clients.purge()
        // librdkafka reports purged records at once.
        _ = settle(within: .seconds(5))
        return unknown + waiting
    }

    /// The last error of the connection, which may have recovered since.
    private var lastError: KafkaFailure?

    private func serve(milliseconds: Int32) {
        clients.poll(milliseconds: milliseconds) { event in
            switch event {
            case .report(let message, let isAlone): settle(message, isAlone: isAlone)
            case .other(let event, let isAlone):
                guard rd_kafka_event_type(event) == RD_KAFKA_EVENT_ERROR else { return }
                let text = rd_kafka_event_error_string(event).map { String(cString: $0) }
                let error = clients.client(isAlone: isAlone).failure(rd_kafka_event_error(event), text: text)
                lastError = error
                if error.isFatal && failure == nil { failure = error }
            }
        }
    }

    private func settle(_ message: UnsafePointer<rd_kafka_message_t>, isAlone: Bool) {
        let index = Int(bitPattern: message.pointee._private)
        if message.pointee.err == RD_KAFKA_RESP_ERR_NO_ERROR {
            acknowledged += 1
            let (topic, partition, offset) = (message.pointee.topic, message.pointee.partition, message.pointee.offset)
            lastStored = (partition, offset)
            // The acknowledgement of a record that was sent alone may come behind those of later offsets.
            if !isAlone, !offsets.append(offset, TopicPartition(topic: topic, partition: partition)) {
                recreatedTopic = topic
            }
        } else {
            let error = clients.client(isAlone: isAlone).notStored(message.pointee.err, on: message.pointee.topic)
            if failure == nil, error.isAboutBatch, !isAlone, clients.resendAlone(message) { return }
            guard skipsRefused, error.isAboutBatch else {
                settled += 1
                if failure == nil { failure = error }
                if rd_kafka_message_status(message) != RD_KAFKA_MSG_STATUS_NOT_PERSISTED { unknown += 1 }
                return
            }
            refused.append(Refusal(index: index, failure: error))
        }
        settled += 1
        // Bounded by the records in flight, because partitions are acknowledged in order.
        acknowledgedAhead.insert(index)
        while acknowledgedAhead.remove(contiguous) != nil { contiguous += 1 }
    }
}

extension KafkaFailure {
    /// The failure for records that were not stored in time. If any broker answers, the error of a connection to another one is not the
    /// whole cause: librdkafka tells nobody that it writes a record again because too few replicas are in sync.
    init(lastError: KafkaFailure?, isAnyBrokerThere: Bool) {
        guard isAnyBrokerThere, lastError?.isRetriable ?? true else {
            let silent = KafkaFailure(RD_KAFKA_RESP_ERR__TIMED_OUT, detail: "The broker did not acknowledge in time")
            self = lastError ?? silent
            return
        }
        let last = lastError?.detail ?? ""
        let clause = last.isEmpty ? "" : "; the last error: \(last.prefix(1).lowercased())\(last.dropFirst())"
        self.init(RD_KAFKA_RESP_ERR__TIMED_OUT, detail: "The brokers that answer did not store it in time\(clause)")
        remedy =
            "Look at the brokers: fewer replicas may be in sync than min.insync.replicas asks for, or a partition has no "
            + "leader."
    }
}

/// The last acknowledged offset of each partition.
struct AcknowledgedOffsets {
    private var last: [TopicPartition: Int64] = [:]

    /// - Parameter offset: negative if the broker does not say where the record is.
    /// - Returns: `false` if an earlier record of the partition has the same or a later offset.
    mutating func append(_ offset: Int64, _ partition: TopicPartition) -> Bool {
        guard offset >= 0 else { return true }
        let before = last.updateValue(offset, forKey: partition)
        return before.map { $0 < offset } ?? true
    }
}
