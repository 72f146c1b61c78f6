import DequeModule
import HubIO
import KafkaIO
import Logging
import NIOCore
import NIOSSL
import NewsModel
import NotificationHub
import PublishEngine
import Tracing

/// One event loop with its engine, its hub connections and its partitions: input → `handle` → each action carried out.
///
/// Confined to its event loop.
final class Shard {
    private let index: Int
    private let eventLoop: any EventLoop
    private let settings: PublisherSettings
    /// The service's group, as results carry it.
    private let group: [UInt8]
    private let bridge: KafkaBridge
    private let telemetry: Telemetry
    private let clock: ServiceClock
    private let log: Logger
    private let onFinish: (Result<Void, PublisherFailure>) -> Void

    private var engine: Engine
    private var pool: SenderPool?
    private var accessToken: AccessToken
    private var tokenCheckedAt = Instant.distantPast

    /// Inputs that came while another was carried out.
    private var inbox: Deque<Input> = []
    private var isCarryingOut = false
    private var actions: [Action] = []
    /// Replies that came since the event loop last looked at its sockets.
    private var landings: [Landing] = []
    /// An empty list whose memory the next replies use.
    private var spareLandings: [Landing] = []
    /// Empty between calls; its memory is used again.
    private var acknowledgements: [Acknowledgement] = []
    private var resultBuffer: [UInt8] = []
    /// Records the producer had no room for; bounded by the window, whose records they belong to.
    private var unproduced: Deque<(record: ProducedRecord, token: UInt64)> = []
    private var alarm: (at: Instant, task: Scheduled<Void>)?
    private var hasFinished = false
    private let meter: ShardMeter
    private let traces: RequestTraces?
    private let onResult: (@Sendable (ResultRecord) -> Void)?
    private var reportedHalt: Halt?
    private var nextReport: Scheduled<Void>?

    init(
        index: Int, eventLoop: any EventLoop, settings: PublisherSettings, router: Router, builder: PayloadBuilder,
        tls: NIOSSLContext?, bridge: KafkaBridge, telemetry: Telemetry, clock: ServiceClock, log: Logger,
        tracer: (any Tracer)?, onFinish: @escaping (Result<Void, PublisherFailure>) -> Void
    ) {
        self.index = index
        self.eventLoop = eventLoop
        self.settings = settings
        group = Array(settings.kafka.group.utf8)
        self.bridge = bridge
        self.telemetry = telemetry
        self.clock = clock
        self.log = log
        self.onFinish = onFinish
        meter = ShardMeter(
            lanes: settings.engine.lanes.map(\.name), categories: settings.table.categories.map(\.name), at: clock.now)
        onResult = telemetry.resultObserver
        traces = tracer.map { RequestTraces($0, connection: settings.connection, hub: settings.hub) }
        var ours = settings.engine
        ours.connections = max(1, settings.engine.connections / settings.shards)
        engine = Engine(
            settings: ours, decoder: NewsDecoder(), router: router, builder: builder,
            seed: settings.seed &+ UInt64(index))
        accessToken = AccessToken(settings.connection)
        var limits = settings.limits
        limits.connections = ours.connections
        limits.waitingMax = ours.connections
        pool = SenderPool(
            eventLoop: eventLoop, target: HubTarget(endpoint: settings.connection.endpoint, hub: settings.hub),
            limits: limits, tls: tls,
            onResult: { [unowned self] token, result in land(token, Reply(result)) })
        reportRegularly()
    }

    // MARK: Inputs

    func take(_ events: [KafkaEvent]) {
        for event in events { translate(event) }
    }

    private func translate(_ event: KafkaEvent) {
        switch event {
        case .assigned(let lane, let generation, let partitions):
            log.info(
                "partitions assigned", metadata: ["lane": "\(laneName(lane))", "partitions": "\(partitions.count)"])
            telemetry.assigned(lane: lane, shard: index, partitions: partitions)
            take(.assigned(lane: lane, generation: generation, partitions: partitions))
        case .records(let lane, let generation, let partition, let records):
            take(.records(lane: lane, generation: generation, partition: partition, records: records))
        case .endReached(let lane, let generation, let partition, let offset):
            take(.endReached(lane: lane, generation: generation, partition: partition, offset: offset))
        case .revoked(let lane, let generation, let partitions, let lost):
            log.info("partitions revoked", metadata: ["lane": "\(laneName(lane))", "lost": "\(lost)"])
            telemetry.assigned(lane: lane, shard: index, partitions: [])
            take(.revoked(lane: lane, generation: generation, partitions: partitions, lost: lost))
        case .stored(let records):
            acknowledge(records)
        case .committed(let lane, let offsets, let failure):
            if let failure {
                log.warning("commit failed", metadata: ["lane": "\(laneName(lane))", "failure": "\(failure)"])
            } else {
                telemetry.committed(offsets)
            }
            take(.committed(lane: lane, succeeded: failure == nil))
        case .restored(let lane, let generation, let results, let entries, let end):
            if let end, end.basis == .nothing, end.offset > end.start {
                log.warning(
                    "no ledger offset is committed; earlier results are not read",
                    metadata: ["lane": "\(laneName(lane))", "results": "\(results)"])
            }
            take(
                .restored(
                    lane: lane, generation: generation, results: results,
                    entries: entries.compactMap(RestoredResult.init),
                    end: end?.offset))
        case .trouble(let failure):
            telemetry.troubled(failure)
            log.error("kafka trouble", metadata: ["failure": "\(failure)"])
            if failure.isFatal { finish(.failure(.kafka(failure))) }
        case .log(let severity, let text):
            log.log(level: severity <= 3 ? .warning : .debug, "librdkafka", metadata: ["line": "\(text)"])
        case .statistics(let lane, let statistics):
            telemetry.counted(statistics, lane: lane)
        case .closed:
            break
        }
    }

    /// Replies are taken together once all sockets that were readable are read: the engine looks at its queues once
    /// for all of them, and requests that leave in a row find a hub that is awake.
    private func land(_ token: UInt64, _ reply: Reply) {
        landings.append(Landing(token: token, reply: reply))
        guard landings.count == 1 else { return }
        eventLoop.assumeIsolated().execute { [self] in
            swap(&landings, &spareLandings)
            take(.replies(spareLandings))
            spareLandings.removeAll(keepingCapacity: true)
        }
    }

    private func laneName(_ lane: Int) -> String { settings.engine.lanes[lane].name }

    private func acknowledge(_ records: [StoredRecord]) {
        acknowledgements.removeAll(keepingCapacity: true)
        for record in records {
            if let failure = record.failure {
                guard StoreRequest.isDeadLetter(token: record.token), failure.code == "MSG_SIZE_TOO_LARGE" else {
                    finish(.failure(.recordsRefused(failure)))
                    return
                }
                // With its headers it is larger than the topic takes; the result says where the original stands.
                log.error("dead letter is too large to be stored", metadata: ["failure": "\(failure)"])
            }
            acknowledgements.append(
                Acknowledgement(token: record.token, offset: record.failure == nil ? record.offset : nil))
        }
        produceWaiting()
        take(.stored(acknowledgements))
    }

    /// Takes an input; one that comes from within another's actions waits its turn.
    func take(_ input: Input) {
        eventLoop.assertInEventLoop()
        inbox.append(input)
        guard !isCarryingOut else { return }
        isCarryingOut = true
        while let next = inbox.popFirst() {
            actions.removeAll(keepingCapacity: true)
            let now = clock.now
            if next.isProgress { meter.progressAt = now }
            if let traces, case .replies(let landings) = next { traces.landed(landings, at: now) }
            engine.handle(next, at: now, into: &actions)
            for action in actions { carryOut(action) }
        }
        isCarryingOut = false
        if engine.halt != reportedHalt { reportHalt() }
        armAlarm()
    }

    /// - Parameter categories: all there have been, the new ones behind.
    func reload(_ reload: Reload, categories: [String]) {
        meter.know(categories)
        take(.reload(reload))
    }

    // MARK: Reports

    private static let reportInterval = TimeAmount.milliseconds(100)

    private func reportRegularly() {
        nextReport = eventLoop.assumeIsolated().scheduleTask(in: Self.reportInterval) { [weak self] in
            self?.report()
            self?.reportRegularly()
        }
    }

    private func report() {
        telemetry.report(
            meter.report(on: engine, openConnections: pool?.openConnections ?? 0, at: clock.now), shard: index)
    }

    /// Health must show a halt at once.
    private func reportHalt() {
        if engine.halt?.reason != reportedHalt?.reason { log.halt(engine.halt) }
        reportedHalt = engine.halt
        report()
    }

    // MARK: Actions

    private func carryOut(_ action: Action) {
        switch action {
        case .send(let token, let request):
            authorize()
            meter.tally.requests += 1
            if let traces, let request = engine.departed(token) { traces.departed(token, request, at: clock.now) }
            pool?.send(request, token: token)
        case .renewToken:
            accessToken.discard()
            tokenCheckedAt = .distantPast
        case .store(let request):
            store(request)
        case .commit(let lane, let generation, let offsets):
            bridge.commit(
                lane: lane, generation: generation, shard: index,
                offsets: offsets.map { PartitionOffset($0.partition, $0.offset) })
        case .restore(let lane, let generation, let results):
            bridge.restore(
                lane: lane, shard: index, results: results, generation: generation,
                from: RestoreStart(
                    window: Int64(settings.engine.duplicateWindow), since: clock.now - Self.usefulResults))
        case .grant(let lane, let records, let bytes):
            bridge.grant(lane: lane, shard: index, records: records, bytes: bytes)
        case .hold(let partition, let lane, let generation):
            bridge.hold(partition, lane: lane, generation: generation)
        case .resume(let partition, let lane, let generation):
            bridge.resume(partition, lane: lane, generation: generation)
        case .release(let lane, let generation):
            bridge.release(lane: lane, generation: generation, shard: index)
        case .finish:
            finish(.success(()))
        }
    }

    /// Without a committed ledger offset, results of the last day are read back.
    private static let usefulResults = Duration.seconds(24 * 3600)

    /// A token is minted once per lifetime and looked at once a second.
    private func authorize() {
        let now = clock.now
        guard now >= tokenCheckedAt + .seconds(1) else { return }
        tokenCheckedAt = now
        let value = accessToken.headerValue(at: ServiceClock.wall.milliseconds / 1000)
        if pool?.authorization != value { pool?.authorization = value }
    }

    private func store(_ request: StoreRequest) {
        note(request)
        produce(
            request.resultRecord(
                topic: settings.engine.resultsTopic, group: group,
                carrying: traces?.carried(request) ?? request.carried,
                buffer: &resultBuffer),
            token: request.token)
        if let deadLetter = request.deadLetter {
            produce(request.deadLetterRecord(deadLetter, topic: settings.deadLetterTopic), token: deadLetter.token)
        }
    }

    private func note(_ request: StoreRequest) {
        meter.settled(request)
        onResult?(request.result)
        log.settled(request.result)
    }

    private func produce(_ record: ProducedRecord, token: UInt64) {
        guard unproduced.isEmpty, bridge.produce(record, token: token, shard: index) else {
            unproduced.append((record, token))
            return
        }
    }

    private func produceWaiting() {
        while let next = unproduced.first, bridge.produce(next.record, token: next.token, shard: index) {
            unproduced.removeFirst()
        }
    }

    private func finish(_ result: Result<Void, PublisherFailure>) {
        guard !hasFinished else { return }
        hasFinished = true
        onFinish(result)
    }

    // MARK: Time

    /// An alarm that comes early or twice does no harm, so only an earlier one replaces the one that is armed.
    private func armAlarm() {
        guard let wakeAt = engine.wakeAt else { return }
        // At least a millisecond ahead: should the engine ever ask for the past, the loop must not spin.
        let at = max(wakeAt, clock.now + .milliseconds(1))
        if let alarm {
            guard at < alarm.at else { return }
            alarm.task.cancel()
        }
        let task = eventLoop.assumeIsolated().scheduleTask(deadline: clock.deadline(of: at)) { [weak self] in
            self?.alarm = nil
            self?.produceWaiting()
            self?.take(.alarm)
        }
        alarm = (at, task)
    }

    /// Closes the connections; what is under way by then is lost to us.
    func close() {
        alarm?.task.cancel()
        nextReport?.cancel()
        report()
        pool?.close()
        pool = nil
    }
}
