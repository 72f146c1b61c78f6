import NewsModel

/// The body of the polling thread.
final class BridgeLoop: @unchecked Sendable {
    // Built on one thread, then used by the polling thread alone.
    private let settings: KafkaSettings
    private let mailbox: Mailbox
    private let lanes: [LaneConsumer]
    private let producer: ResultProducer
    private let ledger: LedgerReader
    private let nudge: FetchNudge?
    private let deliver: @Sendable (Int, [KafkaEvent]) -> Void
    private let batch = RdBatch()
    private var outbox: Outbox
    private var commands: [BridgeCommand] = []
    private var phase = Phase.running

    private enum Phase {
        case running
        /// Until the shards released everything and the groups are left.
        case leaving(until: ContinuousClock.Instant)
        /// Until the broker acknowledged every result.
        case flushing(until: ContinuousClock.Instant)
        case closed
    }

    init(
        settings: KafkaSettings, mailbox: Mailbox, lanes: [LaneConsumer], producer: ResultProducer,
        ledger: LedgerReader, nudge: FetchNudge?, shards: Int, deliver: @escaping @Sendable (Int, [KafkaEvent]) -> Void
    ) {
        self.settings = settings
        self.mailbox = mailbox
        self.lanes = lanes
        self.producer = producer
        self.ledger = ledger
        self.nudge = nudge
        self.deliver = deliver
        outbox = Outbox(shards: shards)
    }

    func run() {
        for lane in lanes { lane.subscribe(&outbox) }
        while true {
            obey()
            for lane in lanes { lane.serve(&outbox, settings: settings, ledger: ledger) }
            producer.serve(&outbox)
            var more = false
            // Higher lanes first; each turn is bounded, so the lower ones get theirs.
            for lane in lanes where lane.read(batch, &outbox) { more = true }
            advance()
            outbox.flush(deliver)
            if case .closed = phase { break }
            if !more { mailbox.wakeUp.wait(milliseconds: patience) }
        }
    }

    /// Events wake us; the bound only paces deadlines, and feeds `max.poll.interval.ms`.
    private var patience: Int32 {
        if case .running = phase { 100 } else { 5 }
    }

    private func obey() {
        commands.removeAll(keepingCapacity: true)
        commands = mailbox.take(commands)
        for command in commands {
            switch command {
            case .grant(let lane, let shard, let records, let bytes):
                consumer(lane)?.grant(shard: shard, records: records, bytes: bytes)
            case .hold(let lane, let generation, let partition, let isHeld):
                consumer(lane)?.hold(partition, generation: generation, isHeld)
            case .commit(let lane, let generation, let shard, let offsets):
                consumer(lane)?.commit(offsets, generation: generation, shard: shard, &outbox)
            case .release(let lane, let generation, let shard):
                consumer(lane)?.release(generation: generation, shard: shard)
            case .forward(let shard, let event): outbox.add(event, shard: shard)
            case .close: close()
            }
        }
    }

    private func consumer(_ lane: Int) -> LaneConsumer? {
        lanes.indices.contains(lane) ? lanes[lane] : nil
    }

    private func close() {
        guard case .running = phase else { return }
        phase = .leaving(until: .now + settings.releaseTimeout + .seconds(5))
        ledger.close()
        nudge?.close()
        for lane in lanes { lane.close(&outbox) }
    }

    private func advance() {
        switch phase {
        case .running, .closed: break
        case .leaving(let until):
            guard lanes.allSatisfy(\.isClosed) || until <= .now else { return }
            for lane in lanes { lane.abandon() }
            phase = .flushing(until: .now + settings.flushTimeout)
            producer.hurry()
        case .flushing(let until):
            // Purged records come back as failures in the next turns.
            if until <= .now { producer.purge() }
            guard producer.outstanding == 0 || until + .seconds(2) <= .now else { return }
            producer.serve(&outbox)
            outbox.addToAll { _ in .closed }
            phase = .closed
        }
    }
}
