import CRdkafka
import NewsModel

/// The process's one producer. `produce` may be called from any thread; `serve` only from the polling thread.
final class ResultProducer: @unchecked Sendable {
    private let client: RdClient
    private let queue: RdQueue
    private let statistics = StatisticsReader()
    /// The topic nearly every record goes to, looked up once.
    private let topic: String
    private let topicHandle: OpaquePointer

    init(settings: KafkaSettings, resultsTopic: String, wakeUp: WakeUp) throws(KafkaFailure) {
        let configuration = try RdConfiguration(
            settings: settings,
            defaults: [
                ("statistics.interval.ms", KafkaSettings.statisticsInterval),
                ("linger.ms", String(settings.lingerMilliseconds)),
                ("queue.buffering.max.kbytes", String(max(settings.produceBudget >> 10, 1024))),
                ("queue.buffering.max.messages", String(max(settings.produceBudget / 512, 1024))),
                // However long the brokers are away, results wait for them: the window bounds how many.
                ("message.timeout.ms", "0"),
                // The broker decides what is too large: dead letters may carry an event of its largest size.
                ("message.max.bytes", "16000000"),
            ],
            fixed: [("enable.idempotence", "true"), ("acks", "all"), ("log.queue", "true")])
        configuration.setEvents(
            RD_KAFKA_EVENT_DR | RD_KAFKA_EVENT_ERROR | RD_KAFKA_EVENT_LOG | RD_KAFKA_EVENT_STATS)
        client = try configuration.makeClient(RD_KAFKA_PRODUCER)
        client.takeLogs()
        guard let queue = RdQueue.main(client), let handle = rd_kafka_topic_new(client.handle, resultsTopic, nil)
        else { throw KafkaFailure(code: "_STATE", detail: "The Kafka producer cannot write to \(resultsTopic)") }
        topic = resultsTopic
        topicHandle = handle
        self.queue = queue
        queue.wake(wakeUp)
    }

    deinit { rd_kafka_topic_destroy(topicHandle) }

    static let shardBits: UInt64 = 8

    /// Copies the record into the producer's queue. Token and shard travel with it and come back in its report.
    func produce(_ record: ProducedRecord, token: UInt64, shard: Int) -> Taken {
        let opaque = UInt(token << Self.shardBits | UInt64(UInt8(truncatingIfNeeded: shard)))
        switch record.produce(client, topicHandle: record.topic == topic ? topicHandle : nil, opaque: opaque) {
        case RD_KAFKA_RESP_ERR_NO_ERROR: return .yes
        case RD_KAFKA_RESP_ERR__QUEUE_FULL: return .full
        case let error: return .failed(client.failure(error, detail: nil))
        }
    }

    enum Taken {
        case yes, full
        case failed(KafkaFailure)
    }

    func serve(_ outbox: inout Outbox) {
        var stored = Array(repeating: [StoredRecord](), count: outbox.shards.count)
        while let event = rd_kafka_queue_poll(queue.handle, 0) {
            if rd_kafka_event_type(event) == RD_KAFKA_EVENT_DR {
                while let message = rd_kafka_event_message_next(event) {
                    let (shard, record) = report(message)
                    if stored.indices.contains(shard) { stored[shard].append(record) }
                }
            } else {
                client.report(event, lane: nil, statistics, &outbox)
            }
            rd_kafka_event_destroy(event)
        }
        for (shard, records) in stored.enumerated() where !records.isEmpty {
            outbox.add(.stored(records), shard: shard)
        }
    }

    private func report(_ message: UnsafePointer<rd_kafka_message_t>) -> (shard: Int, StoredRecord) {
        let opaque = UInt64(UInt(bitPattern: message.pointee._private))
        var record = StoredRecord(
            token: opaque >> Self.shardBits, partition: message.pointee.partition, offset: message.pointee.offset)
        if message.pointee.err != RD_KAFKA_RESP_ERR_NO_ERROR {
            record.failure = client.failure(message.pointee.err, detail: nil)
        }
        return (Int(opaque & (1 << Self.shardBits - 1)), record)
    }

    /// Records not yet acknowledged or not yet reported.
    var outstanding: Int { Int(rd_kafka_outq_len(client.handle)) }

    /// Sends what lingers.
    func hurry() { rd_kafka_flush(client.handle, 0) }

    /// Gives up on what was not acknowledged: it is reported as failed.
    func purge() { rd_kafka_purge(client.handle, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT) }
}
