import CRdkafka
public import KafkaModel

/// Writes many records as fast as the broker takes them, in order within a partition, each stored once. Its calls
/// block; use it from one thread at a time.
public final class RecordPublisher {
    private let client: RdClient
    private let queue: RdQueue
    private var acknowledgedAhead: Set<Int> = []
    private var failure: KafkaFailure?

    /// Records taken so far; the next one gets this index.
    public private(set) var published = 0
    /// Records on every in-sync replica.
    public private(set) var acknowledged = 0
    /// All records with a smaller index are acknowledged: where to resume.
    public private(set) var contiguous = 0

    public init(settings: KafkaSettings) throws(KafkaFailure) {
        let configuration = try RdConfiguration(
            settings: settings,
            defaults: [
                ("linger.ms", "20"), ("queue.buffering.max.kbytes", String(max(settings.produceBudget >> 10, 1024))),
                ("message.max.bytes", "16000000"),
            ],
            fixed: [("enable.idempotence", "true"), ("acks", "all"), ("log.queue", "true")])
        configuration.setEvents(RD_KAFKA_EVENT_DR | RD_KAFKA_EVENT_ERROR | RD_KAFKA_EVENT_LOG)
        client = try configuration.makeClient(RD_KAFKA_PRODUCER)
        client.takeLogs()
        guard let queue = RdQueue.main(client) else {
            throw KafkaFailure(code: "_STATE", detail: "The Kafka producer has no queue")
        }
        self.queue = queue
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
            case let error: throw client.failure(error, detail: nil)
            }
        }
    }

    /// Waits until everything is acknowledged.
    ///
    /// - Throws: the first failure, or the reason when time is up. `contiguous` says how far it got.
    public func flush(timeout: Duration = .seconds(60)) throws(KafkaFailure) {
        let deadline = ContinuousClock.now + timeout
        rd_kafka_flush(client.handle, 0)
        while acknowledged < published {
            serve(milliseconds: 100)
            if let failure { throw failure }
            guard deadline > .now else {
                throw lastError
                    ?? KafkaFailure(RD_KAFKA_RESP_ERR__TIMED_OUT, detail: "The broker did not acknowledge in time")
            }
        }
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
        guard message.pointee.err == RD_KAFKA_RESP_ERR_NO_ERROR else {
            if failure == nil { failure = client.failure(message.pointee.err, detail: nil) }
            return
        }
        acknowledged += 1
        // Bounded by what is under way: partitions are acknowledged in order.
        acknowledgedAhead.insert(Int(bitPattern: message.pointee._private))
        while acknowledgedAhead.remove(contiguous) != nil { contiguous += 1 }
    }
}
