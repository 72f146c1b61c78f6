import Foundation
public import KafkaModel
import Synchronization

/// All Kafka clients of one process: a consumer per lane and one idempotent producer. One thread polls them, one per lane reads
/// the ledger, and one watches the topics.
///
/// Only the polling thread sends events and notices. Commands may come from any thread and never block.
///
/// To end it, call `close` and wait for the notice `closed`. Releasing the last reference does not stop it.
public final class KafkaDriver: Sendable {
    private let commands: CommandQueue<DriverCommand>
    private let producer: ResultProducer
    private let ledgers: [LedgerReader]
    private let watcher: TopicWatcher
    private let nudge: FetchNudge?
    private let loop: PollLoop
    private let life = Mutex(Life.made)

    private enum Life { case made, started, closing }

    /// Checks the settings and creates the clients without connecting them.
    ///
    /// - Parameters:
    ///   - lanes: sorted by urgency, the highest first; their index is the `LaneID` of commands and events.
    ///   - resultsTopic: the destination of nearly all records. Records may name other topics.
    ///   - shards: 1 to 128.
    ///   - deliver: called on the polling thread; must hand the events on and return.
    ///   - onRemoval: called on the polling thread when records were removed from a topic before the lane read them; must hand them
    ///     on and return.
    ///   - notify: called on the polling thread; must hand the notice on and return.
    /// - Throws: an error if librdkafka rejects a setting or if a setting would break a guarantee.
    public init(
        settings: KafkaSettings, lanes: [LaneSubscription], resultsTopic: String, deadLetterTopic: String, shards: Int,
        deliver: @escaping @Sendable (ShardID, [KafkaEvent]) -> Void,
        onRemoval: @escaping @Sendable (LaneID, RemovedRecords) -> Void = { _, _ in },
        notify: @escaping @Sendable (KafkaNotice) -> Void
    ) throws(KafkaFailure) {
        guard (1...RefusedRecords.Key.shardsMax).contains(shards) else {
            throw .configuration("\(shards) shards", remedy: "Use 1 to \(RefusedRecords.Key.shardsMax).")
        }
        let commands = try CommandQueue<DriverCommand>()
        let producer = try ResultProducer(
            settings: settings, resultsTopic: resultsTopic, commands: commands)
        let nudge = try FetchNudge.ifNeeded()
        var consumers: [LaneConsumer] = []
        var ledgers: [LedgerReader] = []
        for (index, lane) in lanes.enumerated() {
            consumers.append(
                try LaneConsumer(
                    lane: LaneID(index), subscription: lane, settings: settings,
                    budget: settings.fetchBudget / lanes.count, shards: shards, wakeUp: commands.wakeUp, nudge: nudge))
            ledgers.append(
                try LedgerReader(
                    lane: LaneID(index), settings: settings,
                    group: settings.consumerGroup(lane: index, named: lane.name), shards: shards, commands: commands))
        }
        let topics = TopicWatch(lanes: lanes.map(\.topics), results: resultsTopic, deadLetters: deadLetterTopic)
        let watcher = try TopicWatcher(
            settings: settings, topics: topics, client: producer.client, lanes: lanes.count,
            shards: shards, commands: commands)
        self.commands = commands
        self.producer = producer
        self.ledgers = ledgers
        self.watcher = watcher
        self.nudge = nudge
        loop = PollLoop(
            settings: settings, commands: commands, lanes: consumers, producer: producer, ledgers: ledgers,
            watcher: watcher, nudge: nudge, shards: shards, deliver: deliver, onRemoval: onRemoval, notify: notify)
    }

    /// Joins the groups. Call once; later calls do nothing.
    public func start() {
        let isFirst = life.withLock { life in
            guard life == .made else { return false }
            life = .started
            return true
        }
        if isFirst { spawn() }
    }

    private func spawn() {
        Thread.start("kafka") { [loop] in loop.run() }
        Thread.start("kafka-topics") { [watcher] in watcher.run() }
        for ledger in ledgers { Thread.start("kafka-ledger") { ledger.run() } }
        if let nudge { Thread.start("kafka-nudge") { nudge.run() } }
    }

    /// Carries out a command of a shard's engine. Commands of one shard stay in order. Never blocks; any thread.
    public func carryOut(_ command: KafkaCommand, from shard: ShardID) {
        commands.post(.carryOut(command, shard))
    }

    /// Hands a record to the producer. `stored` reports to the shard that the broker has stored it. A refused record is retried
    /// until the broker accepts it. Never blocks; any thread.
    ///
    /// - Returns: `false` if the queue is full; retry after the next `stored`.
    public func produce(
        _ record: ProducedRecord, delivery: DeliveryID, kind: StoredRecord.Kind, shard: ShardID
    ) -> Bool {
        producer.produce(record, RefusedRecords.Key(shard: shard, delivery: delivery, kind: kind))
    }

    /// Hands a draft to the producer in the same way. Its memory may be reused at once.
    public func produce(
        _ draft: borrowing RecordDraft, delivery: DeliveryID, kind: StoredRecord.Kind, shard: ShardID
    ) -> Bool {
        producer.produce(draft, RefusedRecords.Key(shard: shard, delivery: delivery, kind: kind))
    }

    /// Leaves the groups once the shards have released their partitions, stores the produced records, and ends with the notice
    /// `closed`.
    public func close() {
        let wasMade = life.withLock { life in
            defer { life = .closing }
            return life == .made
        }
        commands.post(.close)
        if wasMade { spawn() }
    }
}

/// The topics of one lane, read as one consumer group.
public struct LaneSubscription: Sendable {
    public var name: String
    public var topics: [String]
    /// Number of partitions of all its topics. The lane's fetch budget is divided by it.
    public var partitionCount: Int

    public init(name: String, topics: [String], partitionCount: Int = 12) {
        self.name = name
        self.topics = topics
        self.partitionCount = partitionCount
    }
}
