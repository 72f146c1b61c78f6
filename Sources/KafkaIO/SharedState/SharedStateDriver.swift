import Foundation
public import KafkaModel
import NewsModel
import Synchronization

/// One process's share of a topic whose partitions a group divides, and a producer for this and other topics.
///
/// The owner of a partition reads it from its beginning or from the group's commit, then follows it. Starting at the beginning
/// suits compacted topics that are kept as a whole. Only the polling thread sends events and notices. Commands may come from any
/// thread and never block.
///
/// To end it, call `close` and wait for the notice `closed`. Releasing the last reference does not stop it.
public final class SharedStateDriver: Sendable {
    /// The position at which an owner begins to read.
    public enum Start: Sendable {
        case beginning
        /// The group's commit; without one, the beginning.
        case committed
    }

    enum Command: Sendable {
        case commit([PartitionOffset], Generation)
        case write([ProducedRecord], UInt64)
        case handled(records: Int, bytes: Int)
        case release
        case found([Int32: Range<Int64>], question: Int)
        case close
    }

    private let topic: String
    private let threadName: String
    private let commands: CommandQueue<Command>
    private let loop: SharedStateLoop
    private let nudge: FetchNudge?
    private let hasStarted = Mutex(false)

    /// Checks the settings and creates the clients without connecting them.
    ///
    /// - Parameters:
    ///   - name: Suffix of the group's name, `{settings.group}.{name}`.
    ///   - start: The first position of each partition. For `committed`, call `commit` regularly.
    ///   - partitions: The topic's number of partitions, by which the memory for reading is divided.
    ///   - deliver: Called on the polling thread; must hand the events on and return.
    ///   - notify: Called on the polling thread; must hand the notice on and return.
    /// - Throws: an error if librdkafka rejects a setting or if a setting would break a guarantee.
    public init(
        settings: KafkaSettings, name: String, topic: String, from start: Start = .beginning, partitions: Int,
        deliver: @escaping @Sendable ([SharedStateEvent]) -> Void, notify: @escaping @Sendable (KafkaNotice) -> Void
    ) throws(KafkaFailure) {
        let commands = try CommandQueue<Command>()
        let nudge = try FetchNudge.ifNeeded()
        let consumer = try LaneConsumer(
            // Lanes other than the first have groups with a name of their own.
            lane: LaneID(1), subscription: LaneSubscription(name: name, topics: [topic], partitionCount: partitions),
            from: start == .beginning ? .beginning : .committed, settings: settings, budget: settings.fetchBudget,
            shards: 1, wakeUp: commands.wakeUp, nudge: nudge)
        self.commands = commands
        self.nudge = nudge
        self.topic = topic
        threadName = "kafka-\(name)"
        loop = SharedStateLoop(
            topic: topic, flushTimeout: settings.flushTimeout, commands: commands, consumer: consumer,
            producer: try KeyedProducer(settings: settings, wakeUp: commands.wakeUp), deliver: deliver, notify: notify)
    }

    /// Joins the group. Call once; later calls do nothing.
    public func start() {
        let isFirst = hasStarted.withLock { hasStarted in
            defer { hasStarted = true }
            return !hasStarted
        }
        guard isFirst else { return }
        Thread.start(threadName) { [loop, nudge] in
            loop.run()
            nudge?.close()
        }
        if let nudge { Thread.start("kafka-nudge") { nudge.run() } }
    }

    /// Stores records, in order within a partition. Answered by `written`, `refused` or `notWritten` with the number. The number
    /// has at most 52 bits and must be unique among the writes in flight. Never blocks; any thread.
    public func write(_ records: [ProducedRecord], as number: UInt64) { commands.post(.write(records, number)) }

    /// Commits the group's offsets on the topic, by partition. Answered by `committed`. Never blocks; any thread.
    ///
    /// - Parameter generation: that of the assignment in which the records were processed. After another assignment, the
    ///   command does nothing and is not answered, because the partitions may belong to another process.
    public func commit(_ offsets: [Int32: Int64], _ generation: Generation) {
        commands.post(
            .commit(
                offsets.sorted { $0.key < $1.key }.map {
                    PartitionOffset(TopicPartition(topic: topic, partition: $0.key), $0.value)
                }, generation))
    }

    /// Reports that this many delivered records and bytes were handled, so that as many more may be read. Any thread.
    public func handled(records: Int, bytes: Int) { commands.post(.handled(records: records, bytes: bytes)) }

    /// Reports that no work is pending for revoked partitions. Any thread.
    public func release() { commands.post(.release) }

    /// Leaves the group, stores what was written, and ends with the notice `closed`.
    public func close() {
        start()
        commands.post(.close)
    }
}
