import CRdkafka
import KafkaModel
import NewsModel
import Synchronization

/// The thread that restores one lane's ledger as `LedgerState` decides. It has its own thread because it blocks. It never joins
/// a group, so it causes no rebalance.
final class LedgerReader: Sendable {
    private enum Request {
        case restore(TopicPartition, [TopicPartition], RestoreStart, ShardID, Generation)
        case begin(Generation)
    }

    private struct Inbox {
        var requests: [Request] = []
        var isClosing = false
    }

    private let lane: LaneID
    private let settings: KafkaSettings
    private let group: String
    private let shards: Int
    private let commands: CommandQueue<DriverCommand>
    private let wakeUp: WakeUp
    private let inbox = Mutex(Inbox())

    /// - Parameter group: the name of the lane's consumer group.
    init(
        lane: LaneID, settings: KafkaSettings, group: String, shards: Int, commands: CommandQueue<DriverCommand>
    ) throws(KafkaFailure) {
        self.lane = lane
        self.settings = settings
        self.group = group
        self.shards = shards
        self.commands = commands
        wakeUp = try WakeUp()
    }

    // MARK: Any thread

    func restore(
        _ results: TopicPartition, for sources: [TopicPartition], from start: RestoreStart, shard: ShardID,
        generation: Generation
    ) {
        post(.restore(results, sources, start, shard, generation))
    }

    /// Serves this generation. Requests of older generations are dropped silently.
    func begin(_ generation: Generation) { post(.begin(generation)) }

    private func post(_ request: Request) {
        inbox.withLock { $0.requests.append(request) }
        wakeUp.signal()
    }

    func close() {
        inbox.withLock { $0.isClosing = true }
        wakeUp.signal()
    }

    private func removeRequests() -> [Request]? {
        inbox.withLock { inbox in
            if inbox.isClosing { return nil }
            defer { inbox.requests = [] }
            return inbox.requests
        }
    }

    // MARK: The reader's thread

    func run() {
        var turn = LedgerTurn(
            state: LedgerState(lane: lane), events: ShardEvents(shards: shards), owner: Array(settings.group.utf8))
        while let requests = removeRequests() {
            for request in requests {
                switch request {
                case .restore(let results, let sources, let start, let shard, let generation):
                    turn.state.restore(results, for: sources, from: start, shard: shard, generation: generation)
                case .begin(let generation): turn.state.begin(generation)
                }
            }
            let rest = turn.run { () throws(KafkaFailure) in
                // Results are small, but librdkafka uses several times their bytes. All partitions share one queue. A part of a long
                // ledger is read alone, so a partition may fill the queue; a smaller share would take a fetch for every 85 KB.
                try AssignedConsumer(settings, group: group, partitions: 1, budget: 2 << 20)
            }
            for notes in turn.notes { commands.post(.found(notes, lane)) }
            turn.notes = []
            if !turn.events.isEmpty {
                commands.post(.forward(turn.events))
                turn.events = ShardEvents(shards: shards)
            }
            if let rest { wakeUp.wait(milliseconds: rest) }
        }
    }
}

/// The state of the ledger's thread between turns.
struct LedgerTurn {
    var state: LedgerState
    var events: ShardEvents
    /// Notes for the lane's consumer, which must receive them before the events.
    var notes: [IncarnationNotes] = []
    /// The value of `kafka.group`.
    let owner: [UInt8]
    /// Exists only while there is something to read, and for `keptFor` after that, because its queues take memory.
    private var consumer: AssignedConsumer?
    /// The start of the time without anything to read.
    private var idleSince: Instant?
    /// The consumer was assigned and has read nothing since.
    private var isExpecting = false

    /// A long ledger is read in parts. A new client for each part would first have to find the brokers and the group.
    private static let keptFor = Duration.seconds(5)

    init(state: LedgerState, events: ShardEvents, owner: [UInt8]) {
        self.state = state
        self.events = events
        self.owner = owner
    }

    /// Does one step.
    ///
    /// - Returns: the time to wait in milliseconds; `nil` to continue at once.
    mutating func run(make: () throws(KafkaFailure) -> AssignedConsumer) -> Int32? {
        switch state.next(at: ServiceClock.steady) {
        case .locate(let requests):
            idleSince = nil
            do throws(KafkaFailure) {
                if consumer == nil { consumer = try make() }
                guard let consumer else { return nil }
                for (results, answer) in LedgerLocator(consumer).locate(requests) {
                    switch answer {
                    case .success(let location):
                        if let found = state.located(results, location, at: ServiceClock.steady) { notes.append(found) }
                    case .failure(let failure): fail(results, failure)
                    }
                }
            } catch {
                for request in requests { fail(request.results, error) }
            }
        case .assign(let offsets):
            do throws(KafkaFailure) {
                try consumer?.assign(offsets)
                isExpecting = true
            } catch {
                for offset in offsets { fail(offset.partition, error) }
            }
        case .read: read()
        case .wait(let until):
            if state.isIdle { return rest(at: ServiceClock.steady) }
            guard let until else { return 60_000 }
            let pause = (until - ServiceClock.steady).nanoseconds / 1_000_000 + 1
            return Int32(clamping: min(max(pause, 1), 60_000))
        }
        state.tick(at: ServiceClock.steady, &events)
        return nil
    }

    /// Stops reading, and releases the consumer after a while.
    ///
    /// - Returns: the time to wait in milliseconds.
    private mutating func rest(at now: Instant) -> Int32 {
        let idle = idleSince ?? now
        if consumer != nil, idleSince == nil {
            idleSince = now
            // Failures are ignored, because the next assignment reports its own.
            do throws(KafkaFailure) { try consumer?.assign([]) } catch { consumer = nil }
        }
        let left = idle + Self.keptFor - now
        if consumer != nil, left > .zero { return Int32(clamping: left.nanoseconds / 1_000_000 + 1) }
        consumer = nil
        return 60_000
    }

    private mutating func fail(_ results: TopicPartition, _ failure: KafkaFailure) {
        state.failed(results, failure, at: ServiceClock.steady, &events)
    }

    private struct Part {
        var entries: [LedgerEntry] = []
        var next: Int64?
        var isAtEnd = false
        var failure: KafkaFailure?
    }

    private mutating func read() {
        var parts: [TopicPartition: Part] = [:]
        // librdkafka waits for a full batch until the time is over, so a long time would delay the end of every part.
        let count = consumer?.read(milliseconds: 20, isExpecting: isExpecting) { partition, message in
            switch message.pointee.err {
            case RD_KAFKA_RESP_ERR_NO_ERROR:
                let offset = message.pointee.offset
                parts[partition, default: Part()].next = offset < .max ? offset + 1 : .max
                let entry = LedgerEntry(offset: offset, key: message.key, group: owner, header: message.header)
                if let entry { parts[partition, default: Part()].entries.append(entry) }
            case RD_KAFKA_RESP_ERR__PARTITION_EOF:
                parts[partition, default: Part()].isAtEnd = true
                parts[partition, default: Part()].next = message.pointee.offset
            case let error:
                parts[partition, default: Part()].failure = KafkaFailure(
                    error, during: "Reading the ledger \(partition) failed")
            }
        }
        if let count, count > 0 { isExpecting = false }
        let now = ServiceClock.steady
        for (partition, part) in parts.sorted(by: { $0.key < $1.key }) {
            state.read(partition, part.entries, next: part.next, isAtEnd: part.isAtEnd, at: now, &events)
            if let failure = part.failure { fail(partition, failure) }
        }
    }
}
