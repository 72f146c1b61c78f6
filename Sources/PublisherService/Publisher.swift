import ControlIO
import EditorialControl
import HubIO
import HubModel
import KafkaIO
public import KafkaModel
public import Logging
import NIOCore
import NIOPosix
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
    public let metrics: ServiceMetrics
    package let settings: PublisherSettings
    /// The name of this process on the control topic.
    package let replica = ReplicaName.make()
    /// Each shard has its own rules. Loops that count references to a shared object would contend for its cache line.
    private let rules: [ContentRules]
    private let tls: HubTLS?
    let log: Logger
    private let tracer: (any Tracer)?
    let life: AsyncStream<Event>
    let events: AsyncStream<Event>.Continuation

    enum Event: Sendable {
        /// Before the start: check brokers and topics, and the result of the check.
        case look
        case looked(Result<Preflight, PublisherFailure>)
        case drain
        case pause(LaneID)
        case resume(LaneID)
        case release(LaneID, FloodRelease, upTo: [TopicPartition: Int64])
        case reload([Reload], categories: [String], tls: HubTLS?)
        /// The connection string was read again.
        case key(ConnectionString)
        case shard(ShardID, Shard.Event)
        case failed(PublisherFailure)
        /// Kafka's threads have ended. These records were given to the producer but not stored.
        case closed(LostRecords)
    }

    /// Checks the settings that would otherwise fail only on use. Does not connect.
    ///
    /// - Parameter tracer: makes a span of every request to the hub; `nil` disables tracing.
    public init(settings: PublisherSettings, log: Logger, tracer: (any Tracer)? = nil) throws(PublisherFailure) {
        do {
            rules = try Self.rules(settings, settings.payload, shards: settings.shards)
            tls = try Self.makeTLS(settings, roots: settings.trustRoots)
        } catch {
            throw .settings("\(error)")
        }
        self.settings = settings
        self.log = log
        self.tracer = tracer
        metrics = ServiceMetrics(settings: settings)
        (life, events) = AsyncStream.makeStream()
    }

    /// Shuts down in order: stops sending, waits for replies, stores results, commits offsets, leaves the groups. May
    /// be called from any thread, repeatedly, and before `run`.
    public func drain() {
        metrics.isDraining()
        events.yield(.drain)
    }

    /// Pauses a lane and finishes its requests in flight. The pause lasts until `resume` or the end of this process.
    /// Other processes are not affected.
    ///
    /// - Returns: `false` if the lane does not exist.
    public func pause(lane name: String) -> Bool { tell(name, Event.pause) }

    /// Resumes a paused lane.
    ///
    /// - Returns: `false` if the lane does not exist.
    public func resume(lane name: String) -> Bool { tell(name, Event.resume) }

    /// Resumes a lane that the flood guard has stopped. Other processes' lanes stay stopped.
    ///
    /// - Parameter waiting: the fate of the records that are now on our partitions of the lane.
    /// - Returns: `false` if the lane does not exist.
    /// - Throws: if the brokers do not report the partitions' ends. Nothing is released in this case.
    public func release(lane name: String, waiting: FloodRelease) async throws(KafkaFailure) -> Bool {
        guard let lane = settings.engine.lanes.firstIndex(where: { $0.name == name }).map(LaneID.init) else {
            return false
        }
        let partitions = metrics.positions(lane: lane).map(\.partition)
        let ends: Result<[TopicPartition: Int64], KafkaFailure>
        do {
            ends = try await NIOThreadPool.singleton.runIfActive { [settings] in
                Result { () throws(KafkaFailure) in
                    let admin = try KafkaAdmin(settings: settings.kafka, timeout: .seconds(5))
                    var ends: [TopicPartition: Int64] = [:]
                    var failure: KafkaFailure?
                    for partition in partitions {
                        // One without a leader is released another time.
                        do throws(KafkaFailure) { ends[partition] = try admin.watermarks(partition).upperBound } catch {
                            failure = error
                        }
                    }
                    if ends.isEmpty, let failure { throw failure }
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

    /// Runs until `drain`, or until everything that was on the topics at the start is settled and committed. Waits for
    /// missing brokers and for the results topic, unless `untilCaughtUp` is set.
    ///
    /// - Throws: with `untilCaughtUp` also if the run was drained earlier, or if records were removed before they were read.
    public func run(untilCaughtUp: Bool = false) async throws(PublisherFailure) {
        guard let preflight = try await startable(untilCaughtUp: untilCaughtUp) else {
            if untilCaughtUp { throw .notCaughtUp }
            return
        }
        for finding in preflight.findings { log.warning("topics", metadata: ["warning": "\(finding)"]) }
        let catchUp = CatchUp(ends: preflight.ends)
        if untilCaughtUp {
            guard !catchUp.isDone else {
                log.info("nothing to do: everything on the topics is committed")
                return
            }
            metrics.onCommit { [events] offsets in
                if catchUp.committed(offsets) { events.yield(.drain) }
            }
        }
        let group = MultiThreadedEventLoopGroup(numberOfThreads: settings.shards)
        let outcome = await live(on: group, preflight, untilCaughtUp ? catchUp : nil)
        try? await group.shutdownGracefully()
        if let failure = outcome { throw failure }
        if untilCaughtUp {
            // The consumers may not have checked yet what the preflight has found.
            let removed = max(metrics.removedUnread, preflight.removedUnread)
            if let failure = catchUp.failure(removed: removed) { throw failure }
        }
    }

    /// Runs from start to end.
    ///
    /// - Returns: the failure that ended the run, if any.
    private func live(
        on group: MultiThreadedEventLoopGroup, _ preflight: Preflight, _ catchUp: CatchUp?
    ) async -> PublisherFailure? {
        let loops = (0..<settings.shards).map { _ in group.next() }
        let shards = ShardSlots(loops.map { _ in ShardSlot() })
        let subscriptions = zip(settings.engine.lanes, preflight.lanePartitions).map {
            LaneSubscription(name: $0.name, topics: $0.topics, partitionCount: $1)
        }
        let tell: @Sendable (Input) -> Void = { input in
            for (index, loop) in loops.enumerated() { loop.execute { shards[index].shard?.value.receive(input) } }
        }
        let topics = settings.control.topics
        let held = HeldLink(
            settings: settings.kafka.limitingBatches(
                to: settings.engine.lanes.flatMap(\.topics) + [topics.held], preflight.states),
            topic: topics.held, asksHub: true, clock: { [metrics] in metrics.clock.now })
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
                    loops[shard.index].execute { shards[shard.index].shard?.value.receive(batch) }
                },
                onRemoval: { [self] lane, records in noteRemoval(records, lane: lane) },
                notify: { [self] notice in note(notice) })
            var state = settings.control.stateSettings(replica: replica, shards: settings.shards)
            state.process = .init(
                version: ServiceVersion.text, shards: settings.shards, group: settings.kafka.group,
                hub: settings.hub.text)
            control = try ControlLink(
                kafka: settings.kafka.limitingBatches(to: [topics.control, topics.audit], preflight.states),
                topics: topics,
                state: state,
                now: { [clock = metrics.clock] in clock.now },
                deliver: { [self] message in
                    if case .orders(let changes) = message { held.post(.orders(changes)) }
                    if case .formerlyHeld(let totals) = message { held.post(.formerly(totals)) }
                    if case .confirmed(let number, let shard) = message {
                        loops[shard.index].execute {
                            shards[shard.index].shard?.value.receive(.ordersConfirmed(number))
                        }
                    }
                    receive(message, controlEnded, tell: tell)
                })
        } catch {
            return .kafka(error)
        }
        let shared = SharedConnections(most: settings.engine.connections, shards: settings.shards) { shard in
            loops[shard.index].execute { shards[shard.index].shard?.value.shareConnections() }
        }
        for (index, loop) in loops.enumerated() {
            let onEvent: @Sendable (Shard.Event) -> Void = { [events] event in
                events.yield(.shard(ShardID(index), event))
            }
            try? await loop.submit { [self, settings] in
                let shard = Shard(
                    id: ShardID(index), eventLoop: loop, settings: settings, rules: rules[index],
                    tls: tls, kafka: kafka, control: control, held: held, metrics: metrics,
                    shared: shared, log: log, tracer: tracer, onEvent: onEvent)
                shards[index].shard = NIOLoopBound(shard, eventLoop: loop)
            }.get()
        }
        control.start()
        held.start { [self] notice in receive(notice, control, tell: tell) }
        kafka.start()
        let monitor = LagMonitor(
            settings: settings, topicFindings: preflight.findings, metrics: metrics, log: log, catchUp: catchUp,
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

    /// Handles a message on the control link's thread.
    private func receive(
        _ message: ControlLink.Message, _ ended: AsyncStream<Void>.Continuation, tell: (Input) -> Void
    ) {
        switch message {
        case .orders(let changes): tell(.orders(changes))
        case .settled(let stories): tell(.recallsSettled(stories))
        case .known(let isKnown): tell(.ordersKnown(isKnown))
        case .note(let note): log.log(note, topics: settings.control.topics)
        // The shard that asked and the held topic's link are notified directly.
        case .confirmed, .formerlyHeld: break
        case .status(let status):
            metrics.controlled(status)
            tell(.keepsRecalls(status.keepsRecalls))
            // After the start, sending stops instead, because the record may be the mistake.
            if case .elsewhere(let ours, let theirs)? = status.alarms.first, !status.wasKnown {
                let topic = settings.control.topics.control
                let reason = HubEnvironment.disagreement(ours, theirs, on: topic)
                events.yield(.failed(.settings("\(reason); \(HubEnvironment.remedy(topic))")))
            }
        case .failed(let failure): note(.error(failure))
        case .ended: ended.finish()
        }
    }

    private func noteRemoval(_ removed: RemovedRecords, lane: LaneID) {
        metrics.removedUnread(removed, lane: lane)
        log.error(
            "records were removed from a topic before they were read",
            metadata: [
                "lane": "\(settings.engine.lanes[lane.index].name)", "partition": "\(removed.partition)",
                "first": "\(removed.offsets.lowerBound)", "next": "\(removed.offsets.upperBound)",
                "recordsAtMost": "\(removed.count)", "remedy": "\(RemovedUnread.remedy)",
            ])
    }

    private func note(_ notice: KafkaNotice) {
        switch notice {
        case .error(let failure):
            metrics.failed(failure)
            log.error("kafka error", metadata: ["failure": "\(failure)"])
            if failure.isFatal { events.yield(.failed(.kafka(failure))) }
        case .log(let severity, let text):
            log.log(level: severity <= 3 ? .warning : .debug, "librdkafka", metadata: ["line": "\(text)"])
        case .statistics(let lane, let statistics): metrics.received(statistics, lane: lane)
        case .refused(let reasons):
            for reason in reasons {
                log.error(
                    "the broker refuses records; they are tried again",
                    metadata: [
                        "topic": "\(reason.topic)", "records": "\(reason.records)", "failure": "\(reason.failure)",
                    ])
            }
            metrics.refused(reasons)
        case .unreadable(let lane, let failures): metrics.unreadable(failures, lane: lane)
        case .closed(let lost): events.yield(.closed(lost))
        }
    }

    /// Handles the events of a run to its end: drain → every shard finished → Kafka's threads closed.
    private func watch(_ loops: [any EventLoop], _ shards: ShardSlots, _ kafka: KafkaDriver) async -> PublisherFailure?
    {
        func tell(_ input: Input, but origin: ShardID? = nil) {
            for (index, loop) in loops.enumerated() where index != origin?.index {
                loop.execute { shards[index].shard?.value.receive(input) }
            }
        }
        var unfinished = Set(loops.indices.map(ShardID.init))
        var leftovers = Leftovers()
        var failure: PublisherFailure?
        var isDraining = false
        var connection = settings.connection
        for await event in life {
            switch event {
            case .drain:
                guard !isDraining else { continue }
                isDraining = true
                metrics.isDraining()
                log.info("draining: no new sends; replies are awaited, results stored, offsets committed")
                tell(.drain)
            case .pause(let lane): tell(.pause(lane))
            case .resume(let lane): tell(.resume(lane))
            case .release(let lane, let waiting, let ends): tell(.release(lane, waiting, upTo: ends))
            // These events occur only before the start.
            case .look, .looked: break
            case .reload(let reloads, let categories, let tls):
                for (index, (loop, reload)) in zip(loops, reloads).enumerated() {
                    loop.execute { shards[index].shard?.value.reload(reload, categories: categories, tls: tls) }
                }
            case .key(let read):
                let namesHub =
                    read.entityPath == connection.entityPath || read.entityPath ?? settings.hub == settings.hub
                guard read.endpoint == connection.endpoint, namesHub else {
                    log.warning("another hub waits for a restart", metadata: ["key": "hub.connectionString"])
                    continue
                }
                guard read != connection else { continue }
                connection = read
                metrics.keyChanged()
                log.notice("the hub's key has changed", metadata: ["key": "\(read.keyName)"])
                for (index, loop) in loops.enumerated() {
                    loop.execute { shards[index].shard?.value.use(read) }
                }
            case .shard(_, .keyRefused): readKey()
            case .shard(let origin, .recalled(let recall)): tell(.recalled(recall), but: origin)
            case .shard(let shard, .finished(let left)):
                leftovers.unanswered += left.unanswered
                leftovers.unstored += left.unstored
                unfinished.remove(shard)
                if unfinished.isEmpty { kafka.close() }
            case .failed(let reason):
                // Sending stops, because other processes may send the same events now.
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

/// Holds a shard after its loop has made it. Accessed only on that loop.
private final class ShardSlot: @unchecked Sendable {
    var shard: NIOLoopBound<Shard>?
}

private struct ShardSlots: Sendable {
    private let slots: [ShardSlot]
    init(_ slots: [ShardSlot]) { self.slots = slots }
    subscript(index: Int) -> ShardSlot { slots[index] }
}
