import CRdkafka
import KafkaModel

/// Two producers with the same settings: one gathers records into batches, the other sends each record in its own batch.
///
/// A broker judges a batch as a whole. If it exceeds the topic's `max.message.bytes`, all its records are refused, although each
/// may fit. Only the refusal of a record sent alone concerns that record.
///
/// Any thread may use `batching`; everything else belongs to one thread. The second producer is created on first use.
final class ProducerPair: @unchecked Sendable {
    let batching: RdClient
    private let queue: RdQueue
    private let configuration: RdConfiguration
    private let wakeUp: WakeUp?
    private var single: (client: RdClient, queue: RdQueue)?
    /// Refused records that wait for room in the second producer, oldest first. Bounded by the capacity of the first.
    private var waiting: [(record: ProducedRecord, opaque: UInt)] = []

    enum Event {
        /// `isAlone`: true if the message was the only one in its batch.
        case report(UnsafePointer<rd_kafka_message_t>, isAlone: Bool)
        case other(OpaquePointer, isAlone: Bool)
    }

    /// - Parameter wakeUp: signaled when an event arrives; `nil` if the owner waits in `poll`.
    init(
        settings: KafkaSettings, defaults: [(String, String)], wakeUp: WakeUp? = nil
    ) throws(KafkaFailure) {
        var fixed = [("enable.idempotence", "true"), ("acks", "all"), ("log.queue", "true")]
        if let bytes = settings.batchBytesMax { fixed.append(("batch.size", String(bytes))) }
        let events = RD_KAFKA_EVENT_DR | RD_KAFKA_EVENT_ERROR | RD_KAFKA_EVENT_LOG | RD_KAFKA_EVENT_STATS
        let batched = try RdConfiguration(settings: settings, defaults: defaults, fixed: fixed)
        batched.setEvents(events)
        configuration = try RdConfiguration(
            settings: settings, defaults: defaults,
            fixed: fixed + [("batch.num.messages", "1"), ("linger.ms", "0"), ("statistics.interval.ms", "0")])
        configuration.setEvents(events)
        (batching, queue) = try Self.make(batched, wakeUp)
        self.wakeUp = wakeUp
    }

    private static func make(
        _ configuration: RdConfiguration, _ wakeUp: WakeUp?
    ) throws(KafkaFailure) -> (client: RdClient, queue: RdQueue) {
        let client = try configuration.makeClient(RD_KAFKA_PRODUCER)
        client.takeLogs()
        guard let queue = RdQueue.main(client) else {
            throw KafkaFailure(code: "_STATE", detail: "The Kafka producer has no queue")
        }
        if let wakeUp { queue.wake(wakeUp) }
        return (client, queue)
    }

    /// Returns the client of a message or an event.
    func client(isAlone: Bool) -> RdClient { isAlone ? single?.client ?? batching : batching }

    private func openSingle() -> RdClient? {
        if single == nil { single = try? Self.make(configuration, wakeUp) }
        return single?.client
    }

    /// Hands a record to the second producer.
    func produceAlone(_ record: ProducedRecord, opaque: UInt) -> rd_kafka_resp_err_t {
        // A client that cannot be created is retried like a full queue.
        guard let client = openSingle() else { return RD_KAFKA_RESP_ERR__QUEUE_FULL }
        return record.produce(client, topicHandle: nil, opaque: opaque)
    }

    /// Sends a message alone after its batch was refused.
    ///
    /// - Returns: `false` if that is not possible.
    func resendAlone(_ message: UnsafePointer<rd_kafka_message_t>) -> Bool {
        guard openSingle() != nil else { return false }
        waiting.append((ProducedRecord(message), UInt(bitPattern: message.pointee._private)))
        return true
    }

    /// Delivers events, waiting up to `milliseconds` for the first one.
    func poll(milliseconds: Int32 = 0, _ body: (Event) -> Void) {
        resendWaiting()
        // With two producers, the wait is short so that neither delays the other.
        let wait = single == nil ? milliseconds : min(milliseconds, 5)
        serve(queue, isAlone: false, wait, body)
        resendWaiting()
        if let single { serve(single.queue, isAlone: true, 0, body) }
    }

    private func serve(_ queue: RdQueue, isAlone: Bool, _ milliseconds: Int32, _ body: (Event) -> Void) {
        var wait = milliseconds
        while let event = rd_kafka_queue_poll(queue.handle, wait) {
            wait = 0
            if rd_kafka_event_type(event) == RD_KAFKA_EVENT_DR {
                while let message = rd_kafka_event_message_next(event) { body(.report(message, isAlone: isAlone)) }
            } else {
                body(.other(event, isAlone: isAlone))
            }
            rd_kafka_event_destroy(event)
        }
    }

    private func resendWaiting() {
        guard !waiting.isEmpty, let client = single?.client else { return }
        var taken = 0
        for (record, opaque) in waiting {
            // Any other error would have occurred in the first producer too.
            if record.produce(client, topicHandle: nil, opaque: opaque) != RD_KAFKA_RESP_ERR_NO_ERROR { break }
            taken += 1
        }
        waiting.removeFirst(taken)
    }

    /// Number of records not yet acknowledged or not yet reported.
    var outstanding: Int {
        waiting.count + Int(rd_kafka_outq_len(batching.handle))
            + (single.map { Int(rd_kafka_outq_len($0.client.handle)) } ?? 0)
    }

    /// Sends incomplete batches at once.
    func sendNow() { for client in clients { rd_kafka_flush(client.handle, 0) } }

    /// Stops sending. Unacknowledged records are reported as purged.
    ///
    /// - Returns: the number of records that neither producer has and that are not reported.
    func purge() -> Int {
        for client in clients { rd_kafka_purge(client.handle, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT) }
        defer { waiting = [] }
        return waiting.count
    }

    private var clients: [RdClient] { [batching] + (single.map { [$0.client] } ?? []) }
}
