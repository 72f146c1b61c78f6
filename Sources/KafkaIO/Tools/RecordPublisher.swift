import CRdkafka
public import KafkaModel
import NewsModel

/// Writes many records as fast as the broker takes them, in order within a partition, each stored once. Its calls
/// block; use it from one thread at a time.
public final class RecordPublisher {
    private let client: RdClient
    private let queue: RdQueue
    private var acknowledgedAhead: Set<Int> = []
    private var failure: KafkaFailure?
    private let skipsRefused: Bool
    private let prepared: PreparedTopics
    private var refused: [Refusal] = []
    /// Failed records that the broker may have stored all the same.
    private var unknown = 0
    /// Records that the broker has answered for, one way or the other, and those that were given up.
    private var settled = 0

    /// A record that the broker will not store, however often it is tried.
    public struct Refusal: Sendable, Hashable {
        /// The record's index.
        public var index: Int
        public var failure: KafkaFailure
    }

    /// Records taken so far; the next one gets this index.
    public private(set) var published = 0
    /// Records on every in-sync replica.
    public private(set) var acknowledged = 0
    /// The partition and the offset of the record that was acknowledged last.
    public private(set) var lastStored: (partition: Int32, offset: Int64)?
    /// All records with a smaller index are acknowledged, or refused and skipped: where to resume.
    public private(set) var contiguous = 0

    /// - Parameter skipsRefused: a record that the broker refuses for its own fault (it is too large) is reported by
    ///   `takeRefused`, and the others go on. Otherwise it ends the publisher, as every other failure does.
    public init(settings: KafkaSettings, skipsRefused: Bool = false) throws(KafkaFailure) {
        self.skipsRefused = skipsRefused
        let configuration = try RdConfiguration(
            settings: settings,
            defaults: [
                ("linger.ms", "20"), ("queue.buffering.max.kbytes", String(max(settings.produceBudget >> 10, 1024))),
                ("message.max.bytes", "16000000"),
                // As Java's producers have it: all versions of a story share a partition, whoever writes them.
                ("partitioner", "murmur2_random"),
            ],
            fixed: [("enable.idempotence", "true"), ("acks", "all"), ("log.queue", "true")])
        configuration.setEvents(RD_KAFKA_EVENT_DR | RD_KAFKA_EVENT_ERROR | RD_KAFKA_EVENT_LOG)
        client = try configuration.makeClient(RD_KAFKA_PRODUCER)
        client.takeLogs()
        prepared = PreparedTopics(client)
        guard let queue = RdQueue.main(client) else {
            throw KafkaFailure(code: "_STATE", detail: "The Kafka producer has no queue")
        }
        self.queue = queue
    }

    /// Finds the leaders of topics that exist, so that the first record need not wait for that.
    public func prepare(_ topics: [String], timeout: Duration = .seconds(5)) throws(KafkaFailure) {
        prepared.add(topics)
        try prepared.wait(milliseconds: Int32(clamping: timeout.nanoseconds / 1_000_000))
    }

    /// Takes a record, waiting for room when the queue is full.
    ///
    /// - Throws: the problem of this record (it was not taken, others may follow), or the first failure of an earlier one
    ///   (nothing more is taken).
    public func publish(_ record: ProducedRecord, timeout: Duration = .seconds(60)) throws(KafkaFailure) {
        let deadline = ContinuousClock.now + timeout
        serve(milliseconds: 0)
        while true {
            if let failure { throw failure }
            switch record.produce(client, topicHandle: nil, opaque: UInt(published)) {
            case RD_KAFKA_RESP_ERR_NO_ERROR:
                published += 1
                return
            case RD_KAFKA_RESP_ERR__QUEUE_FULL where deadline > .now: serve(milliseconds: 100)
            case let error: throw client.notStored(error, on: record.topic)
            }
        }
    }

    /// Waits until everything is acknowledged.
    ///
    /// - Throws: the first failure, or the reason when time is up. `contiguous` says how far it got.
    public func flush(timeout: Duration = .seconds(60)) throws(KafkaFailure) {
        let deadline = ContinuousClock.now + timeout
        while settled < published {
            _ = settle(within: .milliseconds(100))
            if let failure { throw failure }
            guard deadline > .now else { throw silence }
        }
        if let failure { throw failure }
    }

    /// Waits until the broker has answered for every record, whatever it says.
    ///
    /// - Returns: `false` when time is up first.
    public func settle(within limit: Duration) -> Bool {
        let deadline = ContinuousClock.now + limit
        rd_kafka_flush(client.handle, 0)
        repeat {
            let left = (deadline - .now).nanoseconds / 1_000_000
            serve(milliseconds: settled < published ? Int32(clamping: min(max(left, 0), 100)) : 0)
        } while settled < published && deadline > .now
        return settled >= published
    }

    /// Records that the broker has not answered for.
    public var waiting: Int { published - settled }

    /// The reason to give when the broker has not answered in time.
    public var silence: KafkaFailure {
        lastError ?? KafkaFailure(RD_KAFKA_RESP_ERR__TIMED_OUT, detail: "The broker did not acknowledge in time")
    }

    /// The records refused since the last call.
    public func takeRefused() -> [Refusal] {
        defer { refused = [] }
        return refused
    }

    /// The record with this index is on every in-sync replica. Not for records that were refused and skipped.
    public func isAcknowledged(_ index: Int) -> Bool { index < contiguous || acknowledgedAhead.contains(index) }

    /// Gives up what is not acknowledged, so that nothing is sent any more. The publisher takes no further record.
    ///
    /// - Returns: the number of records that the broker may have stored without having said so.
    public func abandon() -> Int {
        if failure == nil { failure = KafkaFailure(RD_KAFKA_RESP_ERR__PURGE_QUEUE, detail: nil) }
        rd_kafka_purge(client.handle, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT)
        // Purged records are reported at once, by librdkafka itself.
        _ = settle(within: .seconds(5))
        return unknown + waiting
    }

    /// The connection's last error, which may have passed since.
    private var lastError: KafkaFailure?

    private func serve(milliseconds: Int32) {
        var wait = milliseconds
        while let event = rd_kafka_queue_poll(queue.handle, wait) {
            wait = 0
            switch rd_kafka_event_type(event) {
            case RD_KAFKA_EVENT_DR:
                while let message = rd_kafka_event_message_next(event) { settle(message) }
            case RD_KAFKA_EVENT_ERROR:
                let text = rd_kafka_event_error_string(event).map { String(cString: $0) }
                let error = client.failure(rd_kafka_event_error(event), detail: text)
                lastError = error
                if error.isFatal && failure == nil { failure = error }
            default: break
            }
            rd_kafka_event_destroy(event)
        }
    }

    private func settle(_ message: UnsafePointer<rd_kafka_message_t>) {
        settled += 1
        let index = Int(bitPattern: message.pointee._private)
        let error = message.pointee.err
        if error == RD_KAFKA_RESP_ERR_NO_ERROR {
            acknowledged += 1
            lastStored = (message.pointee.partition, message.pointee.offset)
        } else if skipsRefused, Self.isRefusal(error) {
            refused.append(Refusal(index: index, failure: client.notStored(error, on: message.pointee.topic)))
        } else {
            if failure == nil { failure = client.notStored(error, on: message.pointee.topic) }
            if rd_kafka_message_status(message) != RD_KAFKA_MSG_STATUS_NOT_PERSISTED { unknown += 1 }
            return
        }
        // Bounded by what is under way: partitions are acknowledged in order.
        acknowledgedAhead.insert(index)
        while acknowledgedAhead.remove(contiguous) != nil { contiguous += 1 }
    }

    /// The fault is the record's own: others may be stored.
    static func isRefusal(_ error: rd_kafka_resp_err_t) -> Bool {
        [RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, RD_KAFKA_RESP_ERR_INVALID_MSG_SIZE, RD_KAFKA_RESP_ERR_INVALID_RECORD]
            .contains(error)
    }
}
