public import EditorialControl
import Foundation
public import KafkaIO
public import KafkaModel
public import NewsModel

/// Follows the control topic for one process: a `ControlDesk` on a thread of its own, another that reads, and a producer.
///
/// To end, call `close` and wait for `ended`. Releasing the last reference does not stop it.
public final class ControlLink: Sendable {
    /// What the rest of the process is told, on the link's thread: hand it on and return.
    public enum Message: Sendable {
        /// To every shard, in this order; each answers each change by `applied`.
        case orders([OrderChange])
        /// To every shard: recalls by events of these stories stand on the topic, or never will.
        case settled([String])
        /// Whether the orders in force are known; if not, nothing may be sent.
        case known(Bool)
        /// To that shard, behind every order that stood on the topic when it asked by `confirm`.
        case confirmed(UInt64, shard: ShardID)
        /// Once a second, before `known`, and within a tenth of a second after orders.
        case status(ControlStatus)
        case note(ControlNote)
        /// What was to be written is written, or given up.
        case ended
    }

    enum Command: Sendable {
        case take(ControlDesk.Input)
        /// A batch of the reader, who may go on once it is dealt with.
        case read([SourceRecord])
        case close
    }

    private let commands: Mailbox<Command>
    private let loop: ControlLoop
    private let reader: ControlReader

    /// Creates the clients; nothing is connected yet.
    ///
    /// - Parameter now: both clocks of the process.
    /// - Throws: a setting that librdkafka refuses.
    public init(
        kafka: KafkaSettings, topics: ControlTopics, desk: ControlDesk.Settings, now: @escaping @Sendable () -> Moment,
        deliver: @escaping @Sendable (Message) -> Void
    ) throws(KafkaFailure) {
        let commands = try Mailbox<Command>()
        self.commands = commands
        reader = ControlReader(kafka, topics, commands)
        loop = ControlLoop(
            topics: topics, desk: ControlDesk(desk), commands: commands, reader: reader,
            producer: try KeyedProducer(settings: kafka, wakeUp: commands.wakeUp), now: now, deliver: deliver)
    }

    /// Once.
    public func start() {
        spawn("control") { [loop] in loop.run() }
        spawn("control-reader") { [reader] in reader.run() }
    }

    private func spawn(_ name: String, _ body: @escaping @Sendable () -> Void) {
        let thread = Thread(block: body)
        thread.name = name
        thread.start()
    }

    /// A shard's answer. Any thread; never blocks.
    public func applied(_ applied: AppliedOrder, by shard: ShardID) {
        commands.post(.take(.applied(applied, shard: shard)))
    }

    /// A shard asks which orders are in force now, after a standstill. Any thread; never blocks.
    public func confirm(_ number: UInt64, for shard: ShardID) {
        commands.post(.take(.confirm(number, shard: shard)))
    }

    /// A reply of the hub at that monotonic time had this `Date`. Any thread; never blocks.
    public func hear(hub time: Moment) { commands.post(.take(.hubTime(time))) }

    /// An event of the stream recalls its story. Any thread; never blocks.
    public func recall(_ recall: EventRecall) { commands.post(.take(.recalled(recall))) }

    /// Says goodbye on the topic, and ends with the message `ended`, within seconds. Any thread; later calls do nothing.
    public func close() { commands.post(.close) }
}
