import ControlIO
import EditorialControl
import HubIO
import HubModel
import KafkaIO
import KafkaModel
import Logging
import NIOCore
import NewsModel
import NotificationHub
import PublishEngine
import Tracing

/// One event loop with its engine, hub connections and partitions. Passes inputs to the engine and carries out its
/// actions.
///
/// Confined to its event loop.
final class Shard {
    private let id: ShardID
    private let eventLoop: any EventLoop
    private let settings: PublisherSettings
    private let kafka: KafkaDriver
    private let control: ControlLink
    private let held: HeldLink
    // The values that were last sent to the held link.
    private var partitionCounts: [String: Int] = [:]
    private var returns: (settled: Int, perSecond: Int?) = (0, nil)
    private let metrics: ServiceMetrics
    private let clock: ServiceClock
    private var log: ShardLog
    private let onEvent: (Event) -> Void

    private var engine: Engine
    private var pool: SenderPool?
    private var authorization: HubAuthorization
    private var share: ConnectionShare

    private var inputs = ReentrancyQueue<Input>()
    private var actions: [Action] = []
    private var records: ShardRecords
    private var alarm: (at: Instant, task: Scheduled<Void>)?
    private var hasFinished = false
    private var meter: ShardMeter
    private let traces: RequestTraces?
    private let onResult: (@Sendable (ResultRecord) -> Void)?
    private var nextReport: Scheduled<Void>?
    /// Wall minus monotonic time at the last report, to detect a clock step without any input.
    private var clockOffset: Duration?
    private var standstill = StandstillWatch()
    /// The hub's time that was last passed to the engine.
    private var hubDate: Instant?
    /// True until the hub reports its time after the start, a step of our clock, or a standstill.
    private var awaitsTime = true
    private let timeQuestion: HubTimeQuestion
    private var schemas: SchemaQuestions?

    /// An event that affects more than this shard.
    enum Event: Sendable {
        case finished(Leftovers)
        case recalled(EventRecall)
        /// The hub may have refused the key, so it is read again.
        case keyRefused
    }

    init(
        id: ShardID, eventLoop: any EventLoop, settings: PublisherSettings, rules: ContentRules,
        tls: HubTLS?, kafka: KafkaDriver, control: ControlLink, held: HeldLink, metrics: ServiceMetrics,
        shared: SharedConnections, log: Logger, tracer: (any Tracer)?, onEvent: @escaping (Event) -> Void
    ) {
        self.id = id
        self.eventLoop = eventLoop
        self.settings = settings
        self.kafka = kafka
        self.control = control
        self.held = held
        self.metrics = metrics
        self.clock = metrics.clock
        self.log = ShardLog(log, lanes: settings.engine.lanes.map(\.name))
        self.onEvent = onEvent
        records = ShardRecords(
            kafka, id, resultsTopic: settings.engine.resultsTopic, group: settings.kafka.group)
        timeQuestion = HubTimeQuestion(
            eventLoop, SendTarget(endpoint: settings.connection.endpoint, hub: settings.hub), tls: tls)
        meter = ShardMeter(
            lanes: settings.engine.lanes.map(\.name), categories: settings.table.categories.map(\.name),
            at: clock.now.steady)
        onResult = metrics.resultObserver
        traces = tracer.map { RequestTraces($0, connection: settings.connection, hub: settings.hub) }
        share = ConnectionShare(shared, of: id)
        var ours = settings.engine
        ours.connections = share.connections
        ours.group = settings.kafka.group
        ours.awaitsOrders = true
        ours.asksHubForTime = true
        // The windows' memory limit applies to the process, so it is divided among the shards.
        for lane in ours.lanes.indices { ours.lanes[lane].window.divideBytes(among: settings.shards) }
        engine = Engine(
            settings: ours, rules: rules, seed: settings.seed &+ UInt64(id.index))
        authorization = HubAuthorization(settings.connection)
        // The pool has room for all connections, because this shard may get the share of others.
        var limits = settings.limits
        limits.connections = settings.engine.connections
        limits.waitingMax = settings.engine.connections
        limits.waitingTimeout = StandstillWatch.gapMin
        pool = SenderPool(
            eventLoop: eventLoop, target: SendTarget(endpoint: settings.connection.endpoint, hub: settings.hub),
            limits: limits, tls: tls,
            // All results of one turn are one input. The engine then checks its queues only once, and the hub receives
            // the next requests in quick succession while it is awake. A reply may arrive after the shard was
            // released, because the hub decides when it answers.
            onResults: { [weak self] results in self?.receive(.replies(results)) })
        schemas = SchemaQuestions(eventLoop, settings.registry, log) { [weak self] in self?.receive($0) }
        // One question tells the whole process, before orders lapse and embargoes end, whether its clock is ahead.
        if id.index == 0 { askHubForTime() }
        reportRegularly()
    }

    // MARK: Inputs

    func receive(_ events: [KafkaEvent]) {
        for event in events {
            log.happened(event)
            count(event)
            receive(.kafka(event))
        }
    }

    /// Passes an event to the rest of the process, and produces records that waited for room.
    private func count(_ event: KafkaEvent) {
        switch event {
        case .assigned(let lane, _, let partitions):
            records.partitionsAssigned()
            metrics.assigned(lane: lane, shard: id, partitions: partitions)
            held.post(.owned(lane, id, partitions))
        case .revoked(let lane, _, _, let lost):
            metrics.revoked(lane: lane, shard: id, lost: lost)
            held.post(.owned(lane, id, []))
        case .restarted(_, _, let partition, _): metrics.restarted(partition)
        case .committed(_, _, let offsets, _): metrics.committed(offsets)
        case .stored, .tooLargeToHold: records.produceWaiting()
        case .partitionCounts(let counts, _):
            metrics.found(counts)
            if counts != partitionCounts { held.post(.counts(counts)) }
            partitionCounts = counts
        case .restored, .records, .endReached, .restoreFailed: break
        }
    }

    /// Handles an input. One that comes from within another's actions is handled after it.
    func receive(_ input: Input) {
        eventLoop.assertInEventLoop()
        inputs.append(input)
        guard inputs.startDraining() else { return }
        while let next = inputs.next() {
            // The engine is notified of a standstill before it handles inputs that waited during it.
            if let standstill = standstillSinceLastLook() { handle(standstill) }
            handle(next)
        }
        armAlarm()
    }

    private func handle(_ input: Input) {
        let now = clock.now
        if input.isProgress { meter.progressAt = now.steady }
        if let traces, case .replies(let settled) = input { traces.settled(settled, at: now.wall) }
        engine.handle(input, at: now, into: &actions)
        carryOutActions()
        guard share.isDue(engine, at: now.steady),
            share.report(engine.connectionNeed(at: now.steady), at: now.steady)
        else { return }
        // Handled before waiting inputs, because other shards may already use the connections that this one released.
        handle(.connections(share.connections))
    }

    private func standstillSinceLastLook() -> Input? {
        guard let duration = standstill.look(ServiceClock.boot) else { return nil }
        log.stoodStill(for: duration)
        return .stoodStill(duration)
    }

    /// - Parameters:
    ///   - categories: all categories since the start, the new ones at the end.
    ///   - tls: for the next connections to the hub.
    func reload(_ reload: Reload, categories: [String], tls: HubTLS?) {
        meter.know(categories)
        pool?.renew(tls)
        timeQuestion.renew(tls)
        receive(.reload(reload))
    }

    /// Uses another key of the same hub for the requests that follow.
    func use(_ connection: ConnectionString) {
        authorization = HubAuthorization(connection)
        receive(.keyChanged)
    }

    // MARK: Reports

    private func reportRegularly() {
        nextReport = eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(100)) { [weak self] in
            self?.report()
            self?.shareConnectionsRegularly()
            self?.reportRegularly()
        }
    }

    private func report() {
        let now = clock.now
        // Others may have filled the producer's queue. A shard without a record in it is not told when there is room again.
        records.produceWaiting()
        if let standstill = standstillSinceLastLook() {
            receive(standstill)
            // Nobody knows how long ago the hub said this.
            hubDate = pool?.hubDate
            awaitsTime = true
        }
        let offset = now.wall - now.steady
        if let clockOffset, abs((offset - clockOffset).nanoseconds) > 1_000_000_000 { receive(.alarm) }
        clockOffset = offset
        if let date = pool?.hubDate, date != hubDate { hear(hub: date) }
        // Orders do not lapse and held events do not return before the hub has told the time, and neither makes a request that
        // would bring it.
        if id.index == 0, awaitsTime, timeQuestion.isDue(at: now.steady) { askHubForTime() }
        let status = engine.status(at: now)
        metrics.report(
            meter.report(on: engine, status, pool.map(HubWire.init) ?? HubWire(), at: now), shard: id)
        log.halts(in: status)
        log.clock(in: status, at: now.steady)
        paceReturns()
    }

    /// Tells the time of the hub to all that must not act before it.
    ///
    /// - Parameter date: `nil` if the hub's replies have no time. Our clock then counts, except for orders.
    private func hear(hub date: Instant?) {
        awaitsTime = false
        hubDate = date ?? hubDate
        let time = date.map { Moment(steady: clock.now.steady, wall: $0) }
        if let time { control.post(.hubTime(time)) }
        held.post(.hubTime(time))
        receive(.hubDate(date))
    }

    /// Passes only changes, because the link is not read while the held topic is missing.
    private func paceReturns() {
        let next = (settled: engine.returnsSettled, perSecond: engine.requestsPerSecond)
        guard next != returns else { return }
        returns = next
        held.post(.settled(id, next.settled, perSecond: next.perSecond))
    }

    /// Reports what this shard needs of the connections, and applies its new share.
    func shareConnections() {
        let now = clock.now.steady
        if share.report(engine.connectionNeed(at: now), at: now) { receive(.connections(share.connections)) }
    }

    private func shareConnectionsRegularly() {
        shareConnections()
        share.endPeriod()
        pool?.keep(connections: share.connections)
    }

    // MARK: Actions

    /// Carries out the actions in order. Consecutive results and requests are processed in groups, step by step.
    /// Otherwise the steps would not fit into the processor's instruction cache and be fetched again for each.
    private func carryOutActions() {
        var actions = exchange(&self.actions, with: [])
        var results: [StoreRequest] = []
        var requests: [PoolRequest] = []
        // Actions are removed from the array's end, because copying each would count all its references.
        actions.reverse()
        while let action = actions.popLast() {
            switch action {
            case .store(let request):
                send(&requests)
                results.append(request)
            case .send(let id, let request):
                store(&results)
                requests.append(PoolRequest(id: id, request: .send(request)))
            case let action:
                store(&results)
                send(&requests)
                carryOut(action)
            }
        }
        store(&results)
        send(&requests)
        self.actions = actions
    }

    private func carryOut(_ action: consuming Action) {
        switch action {
        // Handled in groups by `carryOutActions`.
        case .send, .store: break
        case .renewToken:
            authorization.discard()
            onEvent(.keyRefused)
        case .storeDeadLetter(let request, let record):
            note(request)
            traces?.keep(request)
            records.produceDeadLetter(record, of: request, topic: settings.deadLetterTopic)
        case .kafka(let command): kafka.carryOut(command, from: id)
        case .recall(let recall):
            onEvent(.recalled(recall))
            control.post(.recalled(recall))
        case .applied(let applied): control.post(.applied(applied, shard: id))
        case .hold(let request, let record, let event):
            let original = HeldRecord.hold(record, event, topic: settings.control.topics.held)
            records.produce(original, of: request.delivery, as: .held)
        case .returnHeld(let story, let reason, let part): held.post(.bringBack(story: story, reason, part))
        case .confirmOrders(let number): control.post(.confirm(number, shard: id))
        case .askHubForTime: askHubForTime()
        case .fetchSchema(let id): schemas?.ask(id)
        case .clockStepped(let step):
            awaitsTime = true
            if id.index == 0 { log.clockStepped(by: step) }
        case .finish(let leftovers):
            guard !hasFinished else { return }
            hasFinished = true
            onEvent(.finished(leftovers))
        }
    }

    private func askHubForTime() {
        timeQuestion.ask(at: clock.now.steady) { [weak self] date in
            guard let self else { return }
            if let standstill = standstillSinceLastLook() {
                receive(standstill)
            } else {
                hear(hub: date)
            }
        }
    }

    private func send(_ requests: inout [PoolRequest]) {
        guard !requests.isEmpty else { return }
        if let value = authorization.due(at: clock.now.steady), pool?.authorization != value {
            pool?.authorization = value
        }
        meter.tally.requests += UInt64(requests.count)
        if let traces {
            let now = clock.now.wall
            for request in requests {
                guard let inFlight = engine.inFlightRequest(request.id) else { continue }
                traces.departed(request.id, inFlight, at: now)
            }
        }
        pool?.send(exchange(&requests, with: []))
    }

    private func store(_ requests: inout [StoreRequest]) {
        guard !requests.isEmpty else { return }
        // Results with a dead letter were noted when the dead letter was written.
        for request in requests where !request.result.outcome.isDeadLettered { note(request) }
        for request in requests {
            records.produce(request, carrying: traces?.carried(request) ?? request.carried)
        }
        requests.removeAll(keepingCapacity: true)
    }

    private func note(_ request: StoreRequest) {
        meter.settled(request)
        onResult?(request.result)
        log.settled(request)
    }

    // MARK: Time

    /// Sets the alarm. Early and repeated alarms do no harm, so only an earlier one replaces the pending one.
    private func armAlarm() {
        guard let wakeAt = engine.wakeAt else { return }
        // The alarm is at least a millisecond ahead, so that the loop does not spin if the engine requests a past time.
        let at = max(wakeAt, clock.now.steady + .milliseconds(1))
        if let alarm {
            guard at < alarm.at else { return }
            alarm.task.cancel()
        }
        let task = eventLoop.assumeIsolated().scheduleTask(
            deadline: .uptimeNanoseconds(clock.uptimeNanoseconds(of: at))
        ) { [weak self] in
            self?.alarm = nil
            self?.records.produceWaiting()
            self?.receive(.alarm)
        }
        alarm = (at, task)
    }

    /// Closes the connections. Replies in flight are lost.
    func close() {
        alarm?.task.cancel()
        nextReport?.cancel()
        report()
        timeQuestion.close()
        schemas?.close()
        pool?.close()
        pool = nil
    }
}
