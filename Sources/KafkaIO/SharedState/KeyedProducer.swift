import CRdkafka
package import KafkaModel

/// Stores records once and in order within a partition, or reports a failure. Confined to the polling thread.
///
/// During an outage of the brokers, records wait without a time limit. The writer bounds their number.
package final class KeyedProducer {
    private let clients: ProducerPair
    private let statistics = StatisticsReader()
    private var pending = PendingWrites()
    /// Records for which the producer's queue was full, oldest first.
    private var waiting: [(record: ProducedRecord, place: Place)] = []
    private var hasFailed = false
    private let prepared: PreparedTopics

    package init(settings: KafkaSettings, wakeUp: WakeUp) throws(KafkaFailure) {
        clients = try ProducerPair(
            settings: settings,
            defaults: [
                ("statistics.interval.ms", KafkaSettings.statisticsInterval), ("linger.ms", "2"),
                ("queue.buffering.max.kbytes", String(max(settings.produceBudget >> 10, 1024))),
                ("message.timeout.ms", "0"), ("message.max.bytes", "16000000"),
                // Same partitioner as Java's producers, so that events of one key from other producers share our partition.
                ("partitioner", "murmur2_random"),
            ], wakeUp: wakeUp)
        prepared = PreparedTopics(clients.batching)
    }

    /// Looks for the leaders of existing topics, so that the first record is not delayed. Never blocks.
    package func prepare(_ topics: [String]) { prepared.add(topics) }

    /// True if every write was answered.
    package var isDone: Bool { pending.isEmpty }

    package func write(_ records: [ProducedRecord], _ write: UInt64, _ deliver: (SharedStateEvent) -> Void) {
        if let end = pending.begin(write, records: records.count) { deliver(end) }
        waiting += records.enumerated().map { ($1, Place(write: write, record: $0)) }
        hand(deliver)
    }

    package func serve(_ deliver: (SharedStateEvent) -> Void, _ notify: (KafkaNotice) -> Void) {
        clients.poll { event in
            switch event {
            case .report(let message, let isAlone): report(message, isAlone: isAlone, deliver, notify)
            case .other(let event, let isAlone):
                clients.client(isAlone: isAlone).report(event, lane: nil, statistics, notify)
            }
        }
        if !waiting.isEmpty { hand(deliver) }
    }

    private func hand(_ deliver: (SharedStateEvent) -> Void) {
        var taken = 0
        for (record, place) in waiting {
            let error = record.produce(clients.batching, topicHandle: nil, opaque: place.opaque)
            if error == RD_KAFKA_RESP_ERR__QUEUE_FULL { break }
            taken += 1
            guard error != RD_KAFKA_RESP_ERR_NO_ERROR else { continue }
            settle(place, answer(error, topic: record.topic, clients.batching), deliver)
        }
        waiting.removeFirst(taken)
    }

    private func settle(
        _ place: Place, _ answer: PendingWrites.Answer, _ deliver: (SharedStateEvent) -> Void
    ) {
        if let end = pending.answered(place.write, record: place.record, answer) { deliver(end) }
    }

    private func report(
        _ message: UnsafePointer<rd_kafka_message_t>, isAlone: Bool, _ deliver: (SharedStateEvent) -> Void,
        _ notify: (KafkaNotice) -> Void
    ) {
        let client = clients.client(isAlone: isAlone)
        let answer = answer(message.pointee.err, topic: message.pointee.topic, client)
        if case .refused(let failure) = answer, failure.isAboutBatch, !isAlone, clients.resendAlone(message) { return }
        // A producer with a fatal error refuses all further records until the process restarts.
        if case .failed(let failure) = answer, failure.isFatal, !hasFailed {
            hasFailed = true
            notify(.error(failure))
        }
        settle(Place(opaque: UInt(bitPattern: message.pointee._private)), answer, deliver)
    }

    private func answer(
        _ error: rd_kafka_resp_err_t, topic: String, _ client: RdClient
    ) -> PendingWrites.Answer {
        if error == RD_KAFKA_RESP_ERR_NO_ERROR { return .stored }
        let failure = client.notStored(error, on: topic)
        return failure.isAboutBatch ? .refused(failure) : .failed(failure)
    }

    /// Sends incomplete batches at once.
    package func sendNow() { clients.sendNow() }

    /// Drops unacknowledged records and reports their writes as failed.
    package func abandon(_ deliver: (SharedStateEvent) -> Void) {
        _ = clients.purge()
        waiting = []
        for end in pending.abandon(KafkaFailure(RD_KAFKA_RESP_ERR__PURGE_QUEUE)) { deliver(end) }
    }
}

/// The 64 bits that identify a record in its report: 52 of its write's number, 12 of its index in the write.
private struct Place {
    var write: UInt64
    var record: Int
}

extension Place {
    init(opaque: UInt) {
        write = UInt64(opaque >> 12)
        record = Int(opaque & 0xFFF)
    }

    var opaque: UInt { UInt(write << 12 | UInt64(clamping: min(record, 0xFFF))) }
}
