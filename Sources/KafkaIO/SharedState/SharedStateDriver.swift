import Foundation
public import KafkaModel
import NewsModel
import Synchronization

/// One process's part of a topic that a group shares out, and the producer that writes to it and to other topics.
///
/// Whoever owns a partition reads it from its beginning (a compacted topic that is kept as a whole) or from the group's commit
/// to its end, and from then on what is appended. Events and notices go
/// out from the polling thread alone; commands may come from any thread and never block.
///
/// To end, call `close` and wait for the notice `closed`. Releasing the last reference does not stop it.
public final class SharedStateDriver: Sendable {
    /// Where an owner begins to read.
    public enum Start: Sendable {
        case beginning
        /// Where the group was, else at the beginning.
        case committed
    }

    enum Command: Sendable {
        case commit([PartitionOffset])
        case write([ProducedRecord], UInt64)
        case handled(records: Int, bytes: Int)
        case release
        case found([Int32: Range<Int64>], Generation)
        case close
    }

    private let topic: String
    private let threadName: String
    private let commands: Mailbox<Command>
    private let loop: SharedStateLoop
    private let nudge: FetchNudge?
    private let hasStarted = Mutex(false)

    /// Checks the settings and creates the clients; nothing is connected yet.
    ///
    /// - Parameters:
    ///   - name: The group is `{settings.group}.{name}`.
    ///   - start: Where each partition is read from; for `committed`, call `commit` now and then.
    ///   - partitions: How many the topic has: memory for reading is divided by it.
    ///   - deliver: Called on the polling thread; hand the events on and return.
    ///   - notify: The same for notices.
    /// - Throws: a setting that librdkafka refuses, or that would break a guarantee.
    public init(
        settings: KafkaSettings, name: String, topic: String, from start: Start = .beginning, partitions: Int,
        deliver: @escaping @Sendable ([SharedStateEvent]) -> Void,
        notify: @escaping @Sendable (KafkaNotice) -> Void
    ) throws(KafkaFailure) {
        let commands = try Mailbox<Command>()
        let nudge = try FetchNudge.ifNeeded()
        let consumer = try LaneConsumer(
            // Any lane but the first has a group of its own name.
            lane: LaneID(1), subscription: LaneSubscription(name: name, topics: [topic], partitionCount: partitions),
            from: start == .beginning ? .beginning : .committed, settings: settings, budget: settings.fetchBudget,
            shards: 1, wakeUp: commands.wakeUp,
            nudge: nudge)
        self.commands = commands
        self.nudge = nudge
        self.topic = topic
        threadName = "kafka-\(name)"
        loop = SharedStateLoop(
            topic: topic, flushTimeout: settings.flushTimeout, commands: commands, consumer: consumer,
            producer: try KeyedProducer(settings: settings, wakeUp: commands.wakeUp), deliver: deliver, notify: notify)
    }

    /// Joins the group. Once; later calls do nothing.
    public func start() {
        let isFirst = hasStarted.withLock { hasStarted in
            defer { hasStarted = true }
            return !hasStarted
        }
        guard isFirst else { return }
        spawn(threadName) { [loop, nudge] in
            loop.run()
            nudge?.close()
        }
        if let nudge { spawn("kafka-nudge") { nudge.run() } }
    }

    private func spawn(_ name: String, _ body: @escaping @Sendable () -> Void) {
        let thread = Thread(block: body)
        thread.name = name
        thread.start()
    }

    /// Stores records, in order within a partition; `written`, `refused` or `notWritten` answers with the number, of at
    /// most 52 bits, which only this write may have while it is under way. Never blocks; any thread.
    public func write(_ records: [ProducedRecord], as number: UInt64) { commands.post(.write(records, number)) }

    /// Commits the group's offsets on the topic, by partition; `committed` answers. Never blocks; any thread.
    public func commit(_ offsets: [Int32: Int64]) {
        commands.post(
            .commit(
                offsets.sorted { $0.key < $1.key }.map {
                    PartitionOffset(TopicPartition(topic: topic, partition: $0.key), $0.value)
                }))
    }

    /// So much of what was delivered is dealt with, and as much more may be read. Any thread.
    public func handled(records: Int, bytes: Int) { commands.post(.handled(records: records, bytes: bytes)) }

    /// Nothing is under way any more for what was revoked. Any thread.
    public func release() { commands.post(.release) }

    /// Leaves the group, stores what was written, and ends with the notice `closed`.
    public func close() {
        start()
        commands.post(.close)
    }
}
