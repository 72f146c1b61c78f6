import CRdkafka
import KafkaModel
import NewsModel

/// The producer of the process. Any thread may call `produce`; all other calls belong to the polling thread.
///
/// Retries failed records until they are stored. Records that the broker refuses are produced again when `RefusedRecords` says
/// so.
final class ResultProducer: @unchecked Sendable {
    private let clients: ProducerPair
    private let commands: CommandQueue<DriverCommand>
    private let statistics = StatisticsReader()
    /// The topic of nearly every record, looked up once.
    private let topic: String
    private let topicHandle: OpaquePointer
    private var refused = RefusedRecords()
    /// True if the refused records have changed since they were last reported.
    private var refusedHasChanged = false
    private var reported: [RefusedRecords.Reason] = []
    /// True after a fatal failure of the producer was reported.
    private var hasFailed = false
    /// Originals that are too large for the held topic.
    private var tooLarge: [RefusedRecords.Key] = []
    /// Records dropped at the end.
    private var purged: Set<RefusedRecords.Key> = []

    init(
        settings: KafkaSettings, resultsTopic: String, commands: CommandQueue<DriverCommand>
    ) throws(KafkaFailure) {
        self.commands = commands
        clients = try ProducerPair(
            settings: settings,
            defaults: [
                ("statistics.interval.ms", KafkaSettings.statisticsInterval),
                ("linger.ms", String(settings.lingerMilliseconds)),
                ("queue.buffering.max.kbytes", String(max(settings.produceBudget >> 10, 1024))),
                ("queue.buffering.max.messages", String(max(settings.produceBudget / 512, 1024))),
                // Results wait for the brokers through any outage, because the window bounds their number.
                ("message.timeout.ms", "0"),
                // The broker decides which records are too large, because a dead letter may carry an event of the largest size.
                ("message.max.bytes", "16000000"),
            ],
            wakeUp: commands.wakeUp)
        guard let handle = rd_kafka_topic_new(clients.batching.handle, resultsTopic, nil)
        else { throw KafkaFailure(code: "_STATE", detail: "The Kafka producer cannot write to \(resultsTopic)") }
        topic = resultsTopic
        topicHandle = handle
    }

    deinit { rd_kafka_topic_destroy(topicHandle) }

    /// The client that produces nearly all records.
    var client: RdClient { clients.batching }

    // MARK: Any thread

    /// Copies the record into the producer's queue. The key accompanies the record and identifies it in its report.
    ///
    /// - Returns: `false` if the queue is full.
    func produce(_ record: ProducedRecord, _ key: RefusedRecords.Key) -> Bool {
        let error = record.produce(client, topicHandle: handle(of: record.topic), opaque: key.opaque)
        return settle(error, key) { record }
    }

    /// Copies a draft into the producer's queue in the same way.
    func produce(_ draft: borrowing RecordDraft, _ key: RefusedRecords.Key) -> Bool {
        let error = draft.produce(client, topicHandle: handle(of: draft.topic), opaque: key.opaque)
        return settle(error, key) { ProducedRecord(draft) }
    }

    private func handle(of topic: String) -> OpaquePointer? { topic == self.topic ? topicHandle : nil }

    /// - Parameter record: makes the record to retry if the producer refused it.
    private func settle(_ error: rd_kafka_resp_err_t, _ key: RefusedRecords.Key, record: () -> ProducedRecord) -> Bool {
        switch error {
        case RD_KAFKA_RESP_ERR_NO_ERROR: return true
        case RD_KAFKA_RESP_ERR__QUEUE_FULL: return false
        default:
            commands.post(.refused(record(), key, client.failure(error)))
            return true
        }
    }

    // MARK: The polling thread

    func serve(_ turn: inout Turn) {
        var stored = Array(repeating: [StoredRecord](), count: turn.events.shards.count)
        tooLarge = []
        clients.poll { event in
            switch event {
            case .report(let message, let isAlone): settle(message, isAlone: isAlone, &stored, turn)
            case .other(let event, let isAlone):
                clients.client(isAlone: isAlone).report(event, lane: nil, statistics, turn.notify)
            }
        }
        for (shard, records) in stored.enumerated() where !records.isEmpty {
            turn.events.add(.stored(records), for: ShardID(shard))
        }
        for key in tooLarge { turn.events.add(.tooLargeToHold([key.delivery]), for: key.shard) }
        for retry in refused.due(at: turn.now) where !produce(retry) { refused.postpone(retry, at: turn.now) }
        if refusedHasChanged {
            refusedHasChanged = false
            let reasons = refused.reasons
            if reasons != reported { turn.notify(.refused(reasons)) }
            reported = reasons
        }
    }

    private func produce(_ retry: RefusedRecords.Retry) -> Bool {
        guard retry.isAlone else { return produce(retry.record, retry.key) }
        return settle(clients.produceAlone(retry.record, opaque: retry.key.opaque), retry.key) { retry.record }
    }

    private func settle(
        _ message: UnsafePointer<rd_kafka_message_t>, isAlone: Bool, _ stored: inout [[StoredRecord]], _ turn: Turn
    ) {
        let key = RefusedRecords.Key(opaque: UInt(bitPattern: message.pointee._private))
        switch message.pointee.err {
        case RD_KAFKA_RESP_ERR_NO_ERROR:
            if refused.stored(key) { refusedHasChanged = true }
            guard stored.indices.contains(key.shard.index) else { return }
            stored[key.shard.index].append(
                StoredRecord(
                    delivery: key.delivery, kind: key.kind, offset: message.pointee.offset, isAlone: isAlone))
        case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE where key.kind == .held && isAlone:
            refused.giveUp(key)
            refusedHasChanged = true
            if stored.indices.contains(key.shard.index) { tooLarge.append(key) }
        case RD_KAFKA_RESP_ERR__PURGE_QUEUE, RD_KAFKA_RESP_ERR__PURGE_INFLIGHT: purged.insert(key)
        case let error:
            let failure = clients.client(isAlone: isAlone).failure(error)
            // A producer with a fatal error refuses all further records until the process restarts.
            if failure.isFatal && !hasFailed {
                hasFailed = true
                turn.notify(.error(failure))
            }
            refuse(ProducedRecord(message), key, failure, wasAlone: isAlone, at: turn.now)
        }
    }

    /// - Parameter wasAlone: `true` if the refusal concerns this record rather than its batch.
    func refuse(
        _ record: ProducedRecord, _ key: RefusedRecords.Key, _ failure: KafkaFailure, wasAlone: Bool, at now: Instant
    ) {
        var record = record
        // A dead letter's partition is chosen by its key, because its topic may have been recreated with fewer partitions.
        // The same applies to a held event, whose headers name its source, if the held topic has fewer partitions.
        if key.kind == .deadLetter || key.kind == .held && failure.code == "_UNKNOWN_PARTITION" {
            record.partition = nil
        }
        refused.refused(record, key, failure, wasAlone: wasAlone, at: now) { record in
            switch key.kind {
            case .result: smallestResult(record)
            case .deadLetter: smallestDeadLetter(record)
            // A held event has no smaller form, because all of it is needed when it is due.
            case .held: record
            }
        }
        refusedHasChanged = true
    }

    /// Time at which the next refused record is due.
    var nextDue: Instant? { refused.nextDue }

    /// True if every record given to `produce` was stored.
    var isDone: Bool { outstanding == 0 && refused.isEmpty }

    /// Number of records not yet acknowledged or not yet reported.
    var outstanding: Int { clients.outstanding }

    /// Sends incomplete batches at once.
    func sendNow() { clients.sendNow() }

    /// Drops unacknowledged records. They are reported as purged.
    func purge() { _ = clients.purge() }

    /// The records that were never stored. Records that librdkafka did not report as purged count as results.
    var lost: LostRecords {
        let keys = purged.union(refused.keys)
        let deadLetters = keys.count { $0.kind == .deadLetter }
        return LostRecords(results: keys.count - deadLetters + outstanding, deadLetters: deadLetters)
    }
}

/// The 64 bits that identify a record in its report: 55 of the delivery, two of the kind, seven of the shard.
extension RefusedRecords.Key {
    static let shardsMax = 128

    var opaque: UInt {
        UInt(delivery.rawValue << 9 | UInt64(kind.rawValue) << 7 | UInt64(shard.index & 0x7F))
    }

    init(opaque: UInt) {
        self.init(
            shard: ShardID(Int(opaque & 0x7F)), delivery: DeliveryID(rawValue: UInt64(opaque >> 9)),
            kind: StoredRecord.Kind(rawValue: UInt8(opaque >> 7 & 3)) ?? .result)
    }
}
