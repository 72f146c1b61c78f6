import Foundation
public import NewsModel
import Synchronization

/// All of one process's Kafka: a consumer per lane, one idempotent producer, one thread that polls them.
///
/// Events go out in batches through `deliver`, always from one thread. Commands may come from any thread and never
/// block. Partition p of every topic belongs to shard p modulo the number of shards.
///
/// To end, call `close` and wait for `.closed`; a bridge that is let go before goes on running.
public final class KafkaBridge: Sendable {
    private let mailbox: Mailbox
    private let producer: ResultProducer
    private let ledger: LedgerReader
    private let nudge: FetchNudge?
    private let loop: BridgeLoop
    private let life = Mutex(Life.made)

    private enum Life { case made, started, closing }

    /// The largest token that `produce` can carry.
    public static let largestToken: UInt64 = 1 << (64 - ResultProducer.shardBits) - 1

    /// Checks the settings and creates the clients; nothing is connected yet.
    ///
    /// - Parameters:
    ///   - lanes: highest urgency first; their index is the `lane` of commands and events.
    ///   - resultsTopic: where nearly all records go; others may be named too.
    ///   - shards: 1 to 256.
    ///   - deliver: called on the polling thread; hand the events on and return.
    /// - Throws: a setting that librdkafka refuses, or that would break a guarantee.
    public init(
        settings: KafkaSettings, lanes: [LaneSubscription], resultsTopic: String, shards: Int,
        deliver: @escaping @Sendable (_ shard: Int, _ events: [KafkaEvent]) -> Void
    ) throws(KafkaFailure) {
        guard (1...256).contains(shards) else {
            throw .configuration("\(shards) shards", remedy: "Use 1 to 256.")
        }
        let mailbox = try Mailbox()
        let producer = try ResultProducer(settings: settings, resultsTopic: resultsTopic, wakeUp: mailbox.wakeUp)
        let nudge = try FetchNudge.ifNeeded()
        var consumers: [LaneConsumer] = []
        for (index, lane) in lanes.enumerated() {
            consumers.append(
                try LaneConsumer(
                    lane: index, subscription: lane, settings: settings, budget: settings.fetchBudget / lanes.count,
                    shards: shards, wakeUp: mailbox.wakeUp, nudge: nudge))
        }
        let ledger = try LedgerReader(settings: settings, lanes: lanes.map(\.name), mailbox: mailbox)
        self.mailbox = mailbox
        self.producer = producer
        self.ledger = ledger
        self.nudge = nudge
        loop = BridgeLoop(
            settings: settings, mailbox: mailbox, lanes: consumers, producer: producer, ledger: ledger,
            nudge: nudge, shards: shards, deliver: deliver)
    }

    /// Joins the groups. Once; later calls do nothing.
    public func start() {
        let first = life.withLock { life in
            guard life == .made else { return false }
            life = .started
            return true
        }
        if first { spawn() }
    }

    private func spawn() {
        spawn("kafka") { [loop] in loop.run() }
        spawn("kafka-ledger") { [ledger] in ledger.run() }
        if let nudge { spawn("kafka-nudge") { nudge.run() } }
    }

    private func spawn(_ name: String, _ body: @escaping @Sendable () -> Void) {
        let thread = Thread(block: body)
        thread.name = name
        thread.start()
    }

    /// Lets the shard be given `records` more records of the lane, and `bytes` more of their bytes. The last record may
    /// overdraw the bytes; the debt is taken from later grants. Credit outlives a rebalance.
    public func grant(lane: Int, shard: Int, records: Int, bytes: Int) {
        mailbox.post(.grant(lane: lane, shard: shard, records: records, bytes: bytes))
    }

    /// Stops reading a partition; what was read before may still arrive.
    public func hold(_ partition: TopicPartition, lane: Int, generation: Int) {
        mailbox.post(.hold(lane: lane, generation: generation, partition, true))
    }

    /// Reads a partition, as far as credit goes. Every partition is held when it is assigned.
    public func resume(_ partition: TopicPartition, lane: Int, generation: Int) {
        mailbox.post(.hold(lane: lane, generation: generation, partition, false))
    }

    /// Hands a record to the producer; `.stored` with the same token tells the shard how it ended.
    ///
    /// - Returns: `false` when the queue is full: try again after the next `.stored`.
    public func produce(_ record: ProducedRecord, token: UInt64, shard: Int) -> Bool {
        switch producer.produce(record, token: token, shard: shard) {
        case .yes: break
        case .full: return false
        case .failed(let failure):
            let stored = StoredRecord(token: token, partition: record.partition ?? -1, offset: -1, failure: failure)
            mailbox.post(.forward(shard: shard, .stored([stored])))
        }
        return true
    }

    /// Commits offsets in one request of the lane's group, which may include partitions of topics it does not read.
    /// `.committed` follows. A commit for an older generation than the last assigned is refused.
    public func commit(lane: Int, generation: Int, shard: Int, offsets: [PartitionOffset]) {
        mailbox.post(.commit(lane: lane, generation: generation, shard: shard, offsets))
    }

    /// Says that the shard is done with a revoked generation. When all shards are, the partitions are given up.
    public func release(lane: Int, generation: Int, shard: Int) {
        mailbox.post(.release(lane: lane, generation: generation, shard: shard))
    }

    /// Reads the ledger of one results partition, from `start` to its present end; `.restored` events follow. What
    /// fails is told as `.trouble` and tried again until it works or the generation is over.
    public func restore(lane: Int, shard: Int, results: TopicPartition, generation: Int, from start: RestoreStart) {
        ledger.request(
            LedgerReader.Job(lane: lane, shard: shard, generation: generation, results: results, start: start))
    }

    /// Leaves the groups once the shards released their partitions, stores what was produced, and ends with `.closed`.
    public func close() {
        let wasMade = life.withLock { life in
            defer { life = .closing }
            return life == .made
        }
        mailbox.post(.close)
        if wasMade { spawn() }
    }
}
