import ByteText
import ControlIO
import EditorialControl
import HubIO
import KafkaIO
public import KafkaModel
public import Logging
import NIOCore
import NIOPosix
import NIOSSL
import NewsModel
import NotificationHub
public import PublishEngine
import Synchronization
public import Tracing

/// The service: reads news, posts notifications and reports outcomes until it is stopped.
///
/// ```swift
/// let publisher = try Publisher(settings: settings, log: log)
/// try await publisher.run()          // elsewhere: publisher.drain()
/// ```
public final class Publisher: Sendable {
    public let telemetry: Telemetry
    let settings: PublisherSettings
    /// Each shard has its own: loops that count references to one object take its cache line from each other at every event.
    private let rules: [ContentRules]
    private let tls: NIOSSLContext?
    let log: Logger
    private let tracer: (any Tracer)?
    let life: AsyncStream<Event>
    let events: AsyncStream<Event>.Continuation

    enum Event: Sendable {
        /// Before the start: look at brokers and topics, and what was seen.
        case look
        case looked(Result<Preflight, PublisherFailure>)
        case drain
        case pause(LaneID)
        case resume(LaneID)
        case release(LaneID, FloodRelease, upTo: [TopicPartition: Int64])
        /// Of each shard.
        case reload([Reload], categories: [String])
        case shard(ShardID, Shard.Event)
        case failed(PublisherFailure)
        /// Kafka's side has ended; these records were handed to the producer and are not stored.
        case closed(LostRecords)
    }

    /// Checks the settings that only fail when used; connects to nothing.
    ///
    /// - Parameter tracer: makes a span of every request to the hub; `nil` costs nothing.
    public init(settings: PublisherSettings, log: Logger, tracer: (any Tracer)? = nil) throws(PublisherFailure) {
        do {
            rules = try Self.rules(settings, settings.payload, shards: settings.shards)
            tls = settings.connection.endpoint.scheme == .https ? try settings.trustRoots.makeContext() : nil
        } catch {
            throw .settings("\(error)")
        }
        self.settings = settings
        self.log = log
        self.tracer = tracer
        telemetry = Telemetry(settings: settings)
        (life, events) = AsyncStream.makeStream()
    }

    /// Shuts down in order: nothing new is sent, replies are awaited, results stored, offsets committed, groups left.
    /// From any thread, more than once, also before `run`.
    public func drain() {
        telemetry.isDraining()
        events.yield(.drain)
    }

    /// Stops a lane; requests in flight are finished. Lasts until `resume` or the end of this process;
    /// other processes go on.
    ///
    /// - Returns: `false` when there is no such lane.
    public func pause(lane name: String) -> Bool { tell(name, Event.pause) }

    /// Lets a paused lane go on.
    ///
    /// - Returns: `false` when there is no such lane.
    public func resume(lane name: String) -> Bool { tell(name, Event.resume) }

    /// Lets a lane go on that the flood guard has stopped; other processes' lanes stay stopped.
    ///
    /// - Parameter waiting: the fate of the records that stand on our partitions of the lane now.
    /// - Returns: `false` when there is no such lane.
    /// - Throws: the brokers did not say where the partitions end; nothing is released.
    public func release(lane name: String, waiting: FloodRelease) async throws(KafkaFailure) -> Bool {
        guard let lane = settings.engine.lanes.firstIndex(where: { $0.name == name }).map(LaneID.init) else {
            return false
        }
        let partitions = telemetry.positions(lane: lane).map(\.partition)
        let ends: Result<[TopicPartition: Int64], KafkaFailure>
        do {
            ends = try await NIOThreadPool.singleton.runIfActive { [settings] in
                Result { () throws(KafkaFailure) in
                    let admin = try KafkaAdmin(settings: settings.kafka, timeout: .seconds(5))
                    var ends: [TopicPartition: Int64] = [:]
                    for partition in partitions { ends[partition] = try admin.watermarks(partition).upperBound }
                    return ends
                }
            }
        } catch {
            throw KafkaFailure(code: "_STATE", detail: "The process is ending")
        }
        events.yield(.release(lane, waiting, upTo: try ends.get()))
        return true
    }

    private func tell(_ name: String, _ event: (LaneID) -> Event) -> Bool {
        guard let lane = settings.engine.lanes.firstIndex(where: { $0.name == name }) else { return false }
        events.yield(event(LaneID(lane)))
        return true
    }

    /// Puts rate, categories, `unroutable`, the message and the flood guard in force; everything else stays as it was. Each event uses
    /// either the old settings or the new ones, never a mix. From any thread, also before `run`; reloads take effect in turn.
    ///
    /// - Throws: the problem of the new settings; then nothing changes.
    public func reload(_ new: PublisherSettings) throws(PublisherFailure) {
        var payload = new.payload
        payload.mode = settings.payload.mode
        var new = new
        // The hub is this environment's, whatever a file says later.
        new.policy.environment = settings.policy.environment
        new.policy.acceptsUnstamped = settings.policy.acceptsUnstamped
        let rules: [ContentRules]
        do {
            rules = try Self.rules(new, payload, shards: settings.shards)
        } catch {
            throw .settings("\(error)")
        }
        let categories = telemetry.reloaded(rate: new.engine.rate, categories: new.table.categories.map(\.name))
        events.yield(
            .reload(
                rules.map { Reload(rate: new.engine.rate, rules: $0, floodGuard: new.engine.floodGuard) },
                categories: categories))
    }

    private static func rules(
        _ settings: PublisherSettings, _ payload: PayloadSettings, shards: Int
    ) throws -> [ContentRules] {
        try (0..<shards).map { _ in
            try ContentRules(
                table: settings.table, unroutable: settings.unroutable, payload: payload, policy: settings.policy)
        }
    }

    /// Runs until `drain`, or until everything that was on the topics at the start is settled and committed. Waits for
    /// brokers and results topic that are not there yet, unless it is to end by itself.
    public func run(untilCaughtUp: Bool = false) async throws(PublisherFailure) {
        guard let preflight = try await startable(untilCaughtUp: untilCaughtUp) else { return }
        for warning in preflight.warnings { log.warning("topics", metadata: ["warning": "\(warning)"]) }
        let catchUp = CatchUp(ends: preflight.ends)
        if untilCaughtUp {
            guard !catchUp.isDone else {
                log.info("nothing to do: everything on the topics is committed")
                return
            }
            telemetry.onCommit { [events] offsets in
                if catchUp.committed(offsets) { events.yield(.drain) }
            }
        }
        let group = MultiThreadedEventLoopGroup(numberOfThreads: settings.shards)
        let outcome = await live(on: group, preflight, untilCaughtUp ? catchUp : nil)
        try? await group.shutdownGracefully()
        if let failure = outcome { throw failure }
    }

    /// Runs from start to end.
    ///
    /// - Returns: the failure that ended it, if any.
    private func live(
        on group: MultiThreadedEventLoopGroup, _ preflight: Preflight, _ catchUp: CatchUp?
    ) async -> PublisherFailure? {
        let loops = (0..<settings.shards).map { _ in group.next() }
        let shards = ShardSlots(loops.map { _ in ShardSlot() })
        let subscriptions = zip(settings.engine.lanes, preflight.lanePartitions).map {
            LaneSubscription(name: $0.name, topics: $0.topics, partitionCount: $1)
        }
        let tell: @Sendable (Input) -> Void = { input in
            for (index, loop) in loops.enumerated() { loop.execute { shards[index].shard?.value.take(input) } }
        }
        let topics = settings.control.topics
        let held = heldLink(
            settings.kafka.limitingBatches(
                to: settings.engine.lanes.flatMap(\.topics) + [topics.held], preflight.states),
            tell)
        let kafka: KafkaDriver
        let control: ControlLink
        let (controlEnd, controlEnded) = AsyncStream<Void>.makeStream()
        do {
            kafka = try KafkaDriver(
                settings: settings.kafka.limitingBatches(
                    to: [settings.engine.resultsTopic, settings.deadLetterTopic, topics.held], preflight.states),
                lanes: subscriptions, resultsTopic: settings.engine.resultsTopic,
                deadLetterTopic: settings.deadLetterTopic, shards: settings.shards,
                deliver: { shard, batch in
                    loops[shard.index].execute { shards[shard.index].shard?.value.take(batch) }
                },
                notify: { [self] notice in note(notice) })
            control = try ControlLink(
                kafka: settings.kafka.limitingBatches(to: [topics.control, topics.audit], preflight.states),
                topics: topics,
                desk: settings.control.desk(replica: ReplicaName.make(), shards: settings.shards),
                now: { [clock = telemetry.clock] in clock.now },
                deliver: { [self] message in
                    if case .orders(let changes) = message { held.take(.orders(changes)) }
                    if case .confirmed(let number, let shard) = message {
                        loops[shard.index].execute {
                            shards[shard.index].shard?.value.take(.ordersConfirmed(number))
                        }
                    }
                    take(message, controlEnded, tell: tell)
                })
        } catch {
            return .kafka(error)
        }
        var settings = settings
        if preflight.canHold { settings.engine.holdsBeyond = Self.holdsBeyond }
        for (index, loop) in loops.enumerated() {
            let onEvent: @Sendable (Shard.Event) -> Void = { [events] event in
                events.yield(.shard(ShardID(index), event))
            }
            try? await loop.submit { [self, settings] in
                let shard = Shard(
                    id: ShardID(index), eventLoop: loop, settings: settings, rules: rules[index],
                    tls: tls, kafka: kafka, control: control, held: held, telemetry: telemetry, log: log,
                    tracer: tracer, onEvent: onEvent)
                shards[index].shard = NIOLoopBound(shard, eventLoop: loop)
            }.get()
        }
        control.start()
        held.start()
        kafka.start()
        let monitor = LagMonitor(
            settings: settings, telemetry: telemetry, log: log, catchUp: catchUp,
            onCaughtUp: { [events] in events.yield(.drain) })
        monitor.start()
        let failure = await watch(loops, shards, kafka)
        monitor.stop()
        control.close()
        for await _ in controlEnd {}
        try? await NIOThreadPool.singleton.runIfActive { held.close() }
        for (index, loop) in loops.enumerated() {
            try? await loop.submit {
                shards[index].shard?.value.close()
                shards[index].shard = nil
            }.get()
        }
        return failure
    }

    /// On the control link's thread.
    private func take(
        _ message: ControlLink.Message, _ ended: AsyncStream<Void>.Continuation, tell: (Input) -> Void
    ) {
        switch message {
        case .orders(let changes): tell(.orders(changes))
        case .settled(let stories): tell(.recallsSettled(stories))
        case .known(let isKnown): tell(.ordersKnown(isKnown))
        case .note(let note): log.log(note, topics: settings.control.topics)
        // The shard that asked is told directly.
        case .confirmed: break
        case .status(let status):
            telemetry.controlled(status)
            tell(.keepsRecalls(status.keepsRecalls))
            // Later on, sending stops instead: the record may be the mistake.
            if case .elsewhere(let ours, let theirs)? = status.alarms.first, !status.wasKnown {
                let topic = settings.control.topics.control
                let reason = HubEnvironment.disagreement(ours, theirs, on: topic)
                events.yield(.failed(.settings("\(reason); \(HubEnvironment.remedy(topic))")))
            }
        case .ended: ended.finish()
        }
    }

    private func note(_ notice: KafkaNotice) {
        switch notice {
        case .error(let failure):
            telemetry.failed(failure)
            log.error("kafka error", metadata: ["failure": "\(failure)"])
            if failure.isFatal { events.yield(.failed(.kafka(failure))) }
        case .log(let severity, let text):
            log.log(level: severity <= 3 ? .warning : .debug, "librdkafka", metadata: ["line": "\(text)"])
        case .statistics(let lane, let statistics): telemetry.received(statistics, lane: lane)
        case .refused(let reasons):
            for reason in reasons {
                log.error(
                    "the broker refuses records; they are tried again",
                    metadata: [
                        "topic": "\(reason.topic)", "records": "\(reason.records)", "failure": "\(reason.failure)",
                    ])
            }
            telemetry.refused(reasons)
        case .closed(let lost): events.yield(.closed(lost))
        }
    }

    /// Follows the events of a life to its end: drain → every shard finished → Kafka's side closed.
    private func watch(_ loops: [any EventLoop], _ shards: ShardSlots, _ kafka: KafkaDriver) async -> PublisherFailure?
    {
        func tell(_ input: Input, but origin: ShardID? = nil) {
            for (index, loop) in loops.enumerated() where index != origin?.index {
                loop.execute { shards[index].shard?.value.take(input) }
            }
        }
        var unfinished = Set(loops.indices.map(ShardID.init))
        var leftovers = Leftovers()
        var failure: PublisherFailure?
        var isDraining = false
        for await event in life {
            switch event {
            case .drain:
                guard !isDraining else { continue }
                isDraining = true
                telemetry.isDraining()
                log.info("draining: no new sends; replies are awaited, results stored, offsets committed")
                tell(.drain)
            case .pause(let lane): tell(.pause(lane))
            case .resume(let lane): tell(.resume(lane))
            case .release(let lane, let waiting, let ends): tell(.release(lane, waiting, upTo: ends))
            // Only before the start.
            case .look, .looked: break
            case .reload(let reloads, let categories):
                for (index, (loop, reload)) in zip(loops, reloads).enumerated() {
                    loop.execute { shards[index].shard?.value.reload(reload, categories: categories) }
                }
            case .shard(let origin, .recalled(let recall)): tell(.recalled(recall), but: origin)
            case .shard(let shard, .finished(let left)):
                leftovers.unanswered += left.unanswered
                leftovers.unstored += left.unstored
                unfinished.remove(shard)
                if unfinished.isEmpty { kafka.close() }
            case .failed(let reason):
                // Nothing more is sent: others may send the same now.
                if failure == nil { tell(.drain) }
                failure = failure ?? reason
                kafka.close()
            case .closed(let lost):
                if leftovers.unanswered > 0 {
                    log.warning(
                        "requests without an answer at the end; the next start sends them again",
                        metadata: ["requests": "\(leftovers.unanswered)"])
                }
                let unstored = max(lost.results + lost.deadLetters, leftovers.unstored)
                return failure ?? (unstored > 0 ? .unstored(unstored) : nil)
            }
        }
        return failure
    }
}

/// Holds a shard once its loop has made it. Touched only on that loop.
private final class ShardSlot: @unchecked Sendable {
    var shard: NIOLoopBound<Shard>?
}

private struct ShardSlots: Sendable {
    private let slots: [ShardSlot]
    init(_ slots: [ShardSlot]) { self.slots = slots }
    subscript(index: Int) -> ShardSlot { slots[index] }
}
