import CRdkafka
import NewsModel

/// One reading of some results partitions of a lane, with a consumer of its own.
final class LedgerPass {
    private(set) var unfinished: [LedgerReader.Job]
    /// `kafka.group`.
    private let owner: [UInt8]

    init(_ jobs: [LedgerReader.Job], owner: String) {
        unfinished = jobs
        self.owner = Array(owner.utf8)
    }

    typealias Emit = (_ shard: Int, KafkaEvent) -> Void

    /// Throws on the first thing that fails, having told all it read; `unfinished` says what is left to do.
    func run(
        _ settings: KafkaSettings, group: String, isCurrent: (LedgerReader.Job) -> Bool, emit: Emit
    ) throws(KafkaFailure) {
        unfinished.removeAll { !isCurrent($0) }
        if unfinished.isEmpty { return }
        let consumer = try AssignedConsumer(settings, group: group, partitions: unfinished.count)
        try locate(consumer)
        finishUnknown(emit)
        if unfinished.isEmpty { return }
        try consumer.assign(
            unfinished.compactMap { job in job.progress.map { PartitionOffset(job.results, $0.next) } })
        try read(consumer, isCurrent, emit)
    }

    /// Finds where each job begins and ends.
    private func locate(_ consumer: AssignedConsumer) throws(KafkaFailure) {
        let new = unfinished.indices.filter { unfinished[$0].progress == nil }
        let partitions = new.map { unfinished[$0].results }
        let committed = try consumer.committed(partitions)
        for index in new {
            let job = unfinished[index]
            let range = try consumer.watermarks(job.results)
            var progress = LedgerReader.Progress(
                next: range.upperBound, start: 0, end: range.upperBound, basis: .nothing)
            if let offset = committed[job.results] {
                let (wanted, overflow) = offset.subtractingReportingOverflow(max(job.start.window, 0))
                // An offset past the end means that the topic was made anew: librdkafka then reads all of it.
                progress.next = overflow ? range.lowerBound : wanted
                progress.basis = .committed
            } else if let since = job.start.since {
                // Where nothing is as late, or the broker knows no times, the newest results still say what was settled last.
                let (newest, overflow) = range.upperBound.subtractingReportingOverflow(max(job.start.window, 0))
                progress.next =
                    try consumer.offsets(for: since, [job.results])[job.results]
                    ?? (overflow ? range.lowerBound : newest)
                progress.basis = .time
            }
            progress.next = max(progress.next, range.lowerBound)
            progress.start = progress.next
            unfinished[index].progress = progress
        }
    }

    /// Other groups may write to the same topic; what they settled is open for us. A result that names no group is
    /// taken for ours: to send twice is worse.
    private func isOurs(_ message: UnsafePointer<rd_kafka_message_t>) -> Bool {
        message.header(HeaderName.group).map { $0 == owner } ?? true
    }

    private func finishUnknown(_ emit: Emit) {
        for job in unfinished where job.progress?.basis == .nothing {
            finish(job.results, emit, entries: [])
        }
    }

    private func read(
        _ consumer: AssignedConsumer, _ isCurrent: (LedgerReader.Job) -> Bool, _ emit: Emit
    ) throws(KafkaFailure) {
        let began = ContinuousClock.now
        var quietSince = began
        while !unfinished.isEmpty {
            var entries: [TopicPartition: [LedgerEntry]] = [:]
            var ended: [TopicPartition] = []
            var failure: KafkaFailure?
            let count = consumer.read(milliseconds: 100) { partition, message in
                switch message.pointee.err {
                case RD_KAFKA_RESP_ERR_NO_ERROR:
                    guard let index = unfinished.firstIndex(where: { $0.results == partition }) else { return }
                    let offset = message.pointee.offset
                    unfinished[index].progress?.advance(past: offset)
                    if isOurs(message), let entry = LedgerEntry(message) {
                        entries[partition, default: []].append(entry)
                    }
                case RD_KAFKA_RESP_ERR__PARTITION_EOF: ended.append(partition)
                case let error: failure = KafkaFailure(error, detail: "Reading the ledger \(partition) failed")
                }
            }
            for job in unfinished {
                let read = entries[job.results] ?? []
                if ended.contains(job.results) || isOverdue(job, since: began) {
                    finish(job.results, emit, entries: read)
                } else if !read.isEmpty {
                    emit(job.shard, job.event(read, end: nil))
                }
            }
            if let failure { throw failure }
            unfinished.removeAll { !isCurrent($0) }
            if count > 0 { quietSince = .now }
            guard quietSince + .seconds(15) > .now else {
                throw consumer.trouble()
                    ?? KafkaFailure(
                        RD_KAFKA_RESP_ERR__TIMED_OUT, detail: "Reading the ledger stood still for 15 seconds")
            }
        }
    }

    /// Where others keep writing, the end runs away: past the end as it was at first, some seconds are enough. The end
    /// that a fetch sees is preferred, since some brokers (Tansu 0.6) tell one that is too early.
    private func isOverdue(_ job: LedgerReader.Job, since began: ContinuousClock.Instant) -> Bool {
        guard let progress = job.progress else { return false }
        return progress.next >= progress.end && began + .seconds(5) < .now
    }

    private func finish(_ partition: TopicPartition, _ emit: Emit, entries: [LedgerEntry]) {
        guard let index = unfinished.firstIndex(where: { $0.results == partition }) else { return }
        let job = unfinished.remove(at: index)
        guard let progress = job.progress else { return }
        let end = RestoreEnd(offset: max(progress.end, progress.next), start: progress.start, basis: progress.basis)
        emit(job.shard, job.event(entries, end: end))
    }
}

extension LedgerReader.Job {
    func event(_ entries: [LedgerEntry], end: RestoreEnd?) -> KafkaEvent {
        .restored(lane: lane, generation: generation, results: results, entries: entries, end: end)
    }
}

extension LedgerEntry {
    /// `nil` for a record that is no result.
    init?(_ message: UnsafePointer<rd_kafka_message_t>) {
        guard let source = message.header(HeaderName.source) else { return nil }
        self.init(
            offset: message.pointee.offset, timestamp: message.timestamp, key: message.key, source: source,
            outcome: message.header(HeaderName.outcome), version: message.header(HeaderName.version))
    }
}
