import Glibc
import KafkaModel
import NewsModel

/// The body of the polling thread.
final class PollLoop: @unchecked Sendable {
    // Created on one thread, then used only by the polling thread.
    private let settings: KafkaSettings
    private let commands: CommandQueue<DriverCommand>
    private let lanes: [LaneConsumer]
    private let producer: ResultProducer
    private let ledgers: [LedgerReader]
    private let watcher: TopicWatcher
    private let nudge: FetchNudge?
    private let deliver: @Sendable (ShardID, [KafkaEvent]) -> Void
    private let onRemoval: @Sendable (LaneID, RemovedRecords) -> Void
    private let batch = RdBatch()
    private var turn: Turn
    private var taken: [DriverCommand] = []
    private var phase = Phase.running
    private var lookAt = Instant.distantPast
    private var looks = 0
    private var checkRemovalsAt = Instant.distantPast

    private enum Phase {
        /// Until `close`. Followed by `leaving`.
        case running
        /// Waits until the shards have released all partitions and the groups are left. Followed by `flushing`.
        case leaving(until: Instant)
        /// Waits until the broker has acknowledged every record. Followed by `purging` or `closed`.
        case flushing(until: Instant)
        /// Drops unacknowledged records and waits for their reports. Followed by `closed`.
        case purging(until: Instant)
        case closed
    }

    init(
        settings: KafkaSettings, commands: CommandQueue<DriverCommand>, lanes: [LaneConsumer], producer: ResultProducer,
        ledgers: [LedgerReader], watcher: TopicWatcher, nudge: FetchNudge?, shards: Int,
        deliver: @escaping @Sendable (ShardID, [KafkaEvent]) -> Void,
        onRemoval: @escaping @Sendable (LaneID, RemovedRecords) -> Void,
        notify: @escaping @Sendable (KafkaNotice) -> Void
    ) {
        self.settings = settings
        self.commands = commands
        self.lanes = lanes
        self.producer = producer
        self.ledgers = ledgers
        self.watcher = watcher
        self.nudge = nudge
        self.deliver = deliver
        self.onRemoval = onRemoval
        turn = Turn(now: ServiceClock.steady, events: ShardEvents(shards: shards), notify: notify)
    }

    func run() {
        for lane in lanes { lane.subscribe(&turn) }
        while true {
            turn.now = ServiceClock.steady
            carryOutCommands()
            for lane in lanes { serve(lane) }
            producer.serve(&turn)
            var hasMore = false
            // Higher lanes first. Each turn is bounded, so that lower lanes are served too.
            for lane in lanes where lane.read(batch, &turn) { hasMore = true }
            lookAtIncarnations()
            checkRemovals()
            advance()
            turn.events.flush(deliver)
            if case .closed = phase { break }
            if !hasMore { commands.wakeUp.wait(milliseconds: pause) }
        }
        turn.notify(.closed(lost: producer.lost))
    }

    private func serve(_ lane: LaneConsumer) {
        let before = lane.generation
        lane.serve(&turn) { ledgers[lane.lane.index].begin($0) }
        guard lane.generation != before else { return }
        watcher.assigned(lane.lane, lane.generation)
        // The metadata committed by the last owner is needed before the first records.
        lookAt = .distantPast
    }

    /// Longest wait for events in milliseconds. It only limits the delay of deadlines and of polls for `max.poll.interval.ms`.
    private var pause: Int32 {
        guard case .running = phase else { return 5 }
        guard let due = producer.nextDue else { return 100 }
        return Int32(clamping: min(max((due - turn.now).nanoseconds / 1_000_000 + 1, 1), 100))
    }

    // MARK: Commands

    private func carryOutCommands() {
        taken.removeAll(keepingCapacity: true)
        taken = commands.exchange(taken)
        for command in taken {
            switch command {
            case .carryOut(let command, let shard): carryOut(command, shard)
            case .forward(let events):
                for (shard, list) in events.lists.enumerated() {
                    for event in list { turn.events.add(event, for: ShardID(shard)) }
                }
            case .report(let failure): turn.notify(.error(failure))
            case .refused(let record, let key, let failure):
                // The producer refused it locally, so it was in no batch.
                producer.refuse(record, key, failure, wasAlone: true, at: turn.now)
            case .found(let notes, let lane):
                lanes[lane.index].state.found(notes)
                // Partitions are not read before their former owners' anchors are checked.
                lookAt = .distantPast
            case .checked(let lane, let check, let finding):
                lanes[lane.index].state.checked(check, finding, &turn.events)
            case .failed(let lane, let check, let failure): lanes[lane.index].state.failed(check, failure)
            case .begins(let lane, let check, let offset):
                for removed in lanes[lane.index].state.checked(check, firstOffset: offset) { onRemoval(lane, removed) }
            case .close: close()
            }
        }
    }

    private func carryOut(_ command: KafkaCommand, _ shard: ShardID) {
        guard lanes.indices.contains(command.lane.index) else { return }
        let lane = lanes[command.lane.index]
        switch command {
        case .restore(_, let generation, let results, let sources, let start):
            ledgers[command.lane.index].restore(
                results, for: sources, from: start, shard: shard, generation: generation)
        case .grant(_, let records, let bytes): lane.state.grant(records: records, bytes: bytes, shard: shard)
        case .pause(let partition, _, let generation): lane.state.pause(partition, generation)
        case .resume(let partition, _, let generation): lane.state.resume(partition, generation)
        case .rewind(let partition, _, let generation): lane.rewind(partition, generation, &turn)
        case .commit(_, let generation, let offsets): lane.commit(offsets, generation, shard: shard, &turn)
        case .release(_, let generation): lane.release(generation, shard: shard)
        }
    }

    // MARK: Incarnations

    private static let lookInterval = Duration.seconds(2)
    /// Idle partitions are included in every fifth check.
    private static let idleEvery = 5

    private func lookAtIncarnations() {
        guard case .running = phase, turn.now >= lookAt else { return }
        lookAt = turn.now + Self.lookInterval
        looks += 1
        for lane in lanes {
            let checks = lane.state.incarnationChecks(includingIdle: looks % Self.idleEvery == 0)
            if !checks.isEmpty, !watcher.look(checks, lane.lane) { lookAt = turn.now + .milliseconds(200) }
        }
    }

    /// Requests a check if reading has skipped records, which may have been removed. At most one check every two seconds.
    private func checkRemovals() {
        guard case .running = phase, turn.now >= checkRemovalsAt else { return }
        for lane in lanes {
            let checks = lane.state.removalChecks()
            if checks.isEmpty { continue }
            checkRemovalsAt = turn.now + Self.lookInterval
            watcher.look(checks, lane.lane)
        }
    }

    // MARK: Closing

    /// Time limit for leaving. The shards have finished, so it is quick; otherwise the memberships end with their sessions.
    private static let leavingMax = Duration.seconds(10)

    private func close() {
        guard case .running = phase else { return }
        phase = .leaving(until: turn.now + Self.leavingMax)
        for ledger in ledgers { ledger.close() }
        watcher.close()
        nudge?.close()
        for lane in lanes { lane.close(&turn) }
    }

    private func advance() {
        switch phase {
        case .running, .closed: break
        case .leaving(let until):
            guard lanes.allSatisfy(\.isClosed) || until <= turn.now else { return }
            for lane in lanes { lane.abandon() }
            phase = .flushing(until: turn.now + settings.flushTimeout)
            producer.sendNow()
        case .flushing(let until):
            if producer.isDone {
                phase = .closed
            } else if until <= turn.now {
                producer.purge()
                phase = .purging(until: turn.now + .seconds(2))
            }
        case .purging(let until):
            if producer.outstanding == 0 || until <= turn.now {
                producer.serve(&turn)
                phase = .closed
            }
        }
    }
}

extension KafkaCommand {
    var lane: LaneID {
        switch self {
        case .restore(let lane, _, _, _, _), .grant(let lane, _, _), .pause(_, let lane, _), .resume(_, let lane, _),
            .rewind(_, let lane, _), .commit(let lane, _, _), .release(let lane, _):
            lane
        }
    }
}

/// One turn of the polling thread: its time and the resulting events.
struct Turn {
    var now: Instant
    var events: ShardEvents
    let notify: @Sendable (KafkaNotice) -> Void
}
