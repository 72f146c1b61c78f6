public import EditorialControl
import Foundation
public import KafkaIO
public import KafkaModel
public import NewsModel

/// Follows the control topic for one process. It has a thread for its `ControlState`, a thread that reads, and a producer.
/// To end it, call `close` and wait for `ended`. Releasing the last reference does not stop it.
public final class ControlLink: Sendable {
    /// Messages to the rest of the process. Delivered on the link's thread, so the receiver must hand them on and return.
    public enum Message: Sendable {
        /// Changes for every shard, in this order. Each shard answers each change with `applied`.
        case orders([OrderChange])
        /// For every shard: recalls by events of these stories are on the topic, or never will be.
        case settled([String])
        /// For every shard: true if the orders in force are known. If not, nothing may be sent.
        case known(Bool)
        /// For this shard: it has received every order that was on the topic when it called `confirm`.
        case confirmed(UInt64, shard: ShardID)
        /// For the held topic's link: what that topic contained at some time before the start.
        case formerlyHeld(HeldTotals?)
        /// Sent once a second, before `known`, and within a tenth of a second after orders.
        case status(ControlStatus)
        case note(ControlNote)
        /// The producer refuses all further records until the process restarts.
        case failed(KafkaFailure)
        /// All writes have succeeded or were given up.
        case ended
    }

    enum Command: Sendable {
        case input(ControlState.Input)
        /// A batch from the reader, which may send another one after this is handled.
        case read([SourceRecord])
        case close
    }

    private let commands: CommandQueue<Command>
    private let loop: ControlLoop
    private let reader: ControlReader

    /// Creates the clients without connecting them.
    ///
    /// - Parameter now: returns both clocks of the process.
    /// - Throws: an error if librdkafka rejects a setting.
    public init(
        kafka: KafkaSettings, topics: ControlTopics, state: ControlState.Settings,
        now: @escaping @Sendable () -> Moment, deliver: @escaping @Sendable (Message) -> Void
    ) throws(KafkaFailure) {
        let commands = try CommandQueue<Command>()
        self.commands = commands
        reader = ControlReader(kafka, topics, commands)
        loop = ControlLoop(
            topics: topics, state: ControlState(state), commands: commands, reader: reader,
            producer: try KeyedProducer(settings: kafka, wakeUp: commands.wakeUp), now: now, deliver: deliver)
    }

    /// Starts the threads. Call once.
    public func start() {
        Thread.start("control") { [loop] in loop.run() }
        Thread.start("control-reader") { [reader] in reader.run() }
    }

    /// Adds an input for `ControlState`. Any thread; never blocks.
    public func post(_ input: ControlState.Input) { commands.post(.input(input)) }

    /// Removes our beat from the topic and sends `ended` within seconds. Any thread; later calls do nothing.
    public func close() { commands.post(.close) }
}

/// A unique name for one process, from its start to its end. It combines the host's name with a random suffix.
public enum ReplicaName {
    public static func make() -> String {
        var bytes = [CChar](repeating: 0, count: 256)
        let isKnown = gethostname(&bytes, bytes.count - 1) == 0
        let name = String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let host = isKnown && !name.isEmpty ? String(name.prefix(60)) : "host"
        return host + "-" + String(UInt32.random(in: 0x10_0000...0xFF_FFFF), radix: 16)
    }
}
