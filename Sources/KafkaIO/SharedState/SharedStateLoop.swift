import Foundation
import KafkaModel
import NewsModel

/// The body of the polling thread of a `SharedStateDriver`.
final class SharedStateLoop: @unchecked Sendable {
    // Created on one thread, then used only by the polling thread.
    private let topic: String
    private let flushTimeout: Duration
    private let commands: CommandQueue<SharedStateDriver.Command>
    private let consumer: LaneConsumer
    private let producer: KeyedProducer
    private let deliver: @Sendable ([SharedStateEvent]) -> Void
    private let batch = RdBatch()
    private var turn: Turn
    private var reading = SharedStateReading()
    private var events: [SharedStateEvent] = []
    private var taken: [SharedStateDriver.Command] = []
    private var ends = Ends.idle
    /// The next time at which all partitions are examined for removed records.
    private var examineAt = Instant.distantPast
    private var phase = Phase.running

    /// Progress of requesting the partitions' ends. Another thread requests them, because the call blocks.
    private enum Ends {
        case idle
        case asking
        /// Some ends could not be read.
        case waiting(until: Instant)
    }

    fileprivate enum Phase {
        /// Until `close`. Followed by `leaving`.
        case running
        /// Waits until the group is left. Followed by `flushing`.
        case leaving(until: Instant)
        /// Waits until the broker has answered every record. Followed by `closed`.
        case flushing(until: Instant)
        case closed
    }

    /// Limits for records that are read ahead of their handling.
    private static let creditRecords = 8_192
    private static let creditBytes = 8 << 20
    private static let leavingMax = Duration.seconds(5)
    private static let endsPause = Duration.seconds(1)
    private static let endsMilliseconds: Int32 = 3_000
    private static let examinationPause = Duration.seconds(60)

    init(
        topic: String, flushTimeout: Duration, commands: CommandQueue<SharedStateDriver.Command>,
        consumer: LaneConsumer, producer: KeyedProducer, deliver: @escaping @Sendable ([SharedStateEvent]) -> Void,
        notify: @escaping @Sendable (KafkaNotice) -> Void
    ) {
        self.topic = topic
        self.flushTimeout = flushTimeout
        self.commands = commands
        self.consumer = consumer
        self.producer = producer
        self.deliver = deliver
        turn = Turn(now: ServiceClock.steady, events: ShardEvents(shards: 1), notify: notify)
    }

    func run() {
        consumer.state.grant(records: Self.creditRecords, bytes: Self.creditBytes, shard: ShardID(0))
        consumer.subscribe(&turn)
        while true {
            turn.now = ServiceClock.steady
            carryOutCommands()
            consumer.serve(&turn) { _ in }
            if case .leaving = phase { consumer.abandon() }
            producer.serve({ events.append($0) }, turn.notify)
            let hasMore = consumer.read(batch, &turn)
            translate()
            askForEnds()
            advance()
            if !events.isEmpty {
                deliver(events)
                events = []
            }
            if case .closed = phase { break }
            if !hasMore { commands.wakeUp.wait(milliseconds: phase.isRunning ? 100 : 5) }
        }
        turn.notify(.closed(lost: LostRecords()))
    }

    private func carryOutCommands() {
        taken.removeAll(keepingCapacity: true)
        taken = commands.exchange(taken)
        for command in taken {
            switch command {
            case .write(let records, let number): producer.write(records, number) { events.append($0) }
            case .commit(let offsets, let generation): consumer.commit(offsets, generation, shard: ShardID(0), &turn)
            case .handled(let records, let bytes):
                consumer.state.grant(records: records, bytes: bytes, shard: ShardID(0))
            case .release: consumer.release(consumer.generation, shard: ShardID(0))
            case .found(let ranges, let question):
                let isComplete = reading.unknownEnds.allSatisfy { ranges[$0] != nil }
                ends = isComplete || question != reading.question ? .idle : .waiting(until: turn.now + Self.endsPause)
                events += reading.found(ranges, to: question)
            case .close: close()
            }
        }
    }

    /// Translates the consumer's events, and resumes every assigned partition.
    private func translate() {
        let gathered = turn.events.lists.joined()
        turn.events = ShardEvents(shards: 1)
        for event in gathered {
            events += reading.translate(event)
            switch event {
            case .assigned(_, let generation, let partitions):
                for partition in partitions { consumer.state.resume(partition, generation) }
            case .restarted(_, let generation, let partition, _):
                consumer.rewind(partition, generation, &turn)
                consumer.state.resume(partition, generation)
            default: break
            }
        }
    }

    private func askForEnds() {
        switch ends {
        case .asking: return
        case .waiting(let until) where turn.now < until: return
        case .waiting, .idle: break
        }
        var asked = reading.unknownEnds
        if asked.isEmpty, examineAt <= turn.now { asked = reading.assigned }
        if asked.isEmpty { return }
        ends = .asking
        examineAt = turn.now + Self.examinationPause
        let question = reading.question
        let partitions = asked.map { TopicPartition(topic: topic, partition: $0) }
        let (client, commands) = (consumer.client, commands)
        Thread.detachNewThread {
            // In one call, because each request may wait half a second behind a fetch in flight.
            var found: [Int32: Range<Int64>] = [:]
            if let ranges = try? client.ranges(partitions, milliseconds: Self.endsMilliseconds) {
                for (partition, range) in ranges { found[partition.partition] = range }
            }
            // Individually, so that a broker that does not answer delays no other partitions.
            for partition in partitions where found[partition.partition] == nil {
                found[partition.partition] = try? client.watermarks(partition, milliseconds: Self.endsMilliseconds)
            }
            commands.post(.found(found, question: question))
        }
    }

    // MARK: Closing

    private func close() {
        guard phase.isRunning else { return }
        phase = .leaving(until: turn.now + Self.leavingMax)
        consumer.close(&turn)
    }

    private func advance() {
        switch phase {
        case .running, .closed: break
        case .leaving(let until):
            guard consumer.isClosed || until <= turn.now else { return }
            phase = .flushing(until: turn.now + flushTimeout)
            producer.sendNow()
        case .flushing(let until):
            if !producer.isDone && turn.now < until { return }
            producer.abandon { events.append($0) }
            phase = .closed
        }
    }
}

extension SharedStateLoop.Phase {
    fileprivate var isRunning: Bool { if case .running = self { true } else { false } }
}
