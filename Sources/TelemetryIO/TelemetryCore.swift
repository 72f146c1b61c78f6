import HubIO
import HubModel
import HubTelemetry
import KafkaIO
import KafkaModel
import Logging
import NIOCore
import NewsModel
import NotificationHub

/// Carries out the actions of a `TelemetryState`. Confined to one event loop.
final class TelemetryCore: @unchecked Sendable {
    // Created on one thread, then used only on the loop.
    let loop: any EventLoop
    private var state: TelemetryState
    /// Created on the loop, when the first question is asked.
    private var pool: SenderPool?
    private let limits: SenderLimits
    private let tls: HubTLS?
    /// The questions in flight, by the number of their request.
    private var asked: [UInt64: FollowedSendID] = [:]
    private var lastRequest: UInt64 = 0
    private var token: AccessToken
    private let endpoint: HubEndpoint
    private let hub: HubName
    private let topic: String
    private let log: Logger
    private let clock = ServiceClock()
    private var driver: SharedStateDriver?
    private var generation = Generation.none
    /// The number of partitions of the results topic.
    private var partitionCount = 0
    private var alarm: (at: Instant, task: Scheduled<Void>)?
    private let startedAt: Instant
    /// Succeeds when everything is committed after `finish`.
    let finished: EventLoopPromise<Void>
    let caughtUp: EventLoopPromise<Void>

    init(
        _ settings: TelemetryService.Settings, tls: HubTLS?, loop: any EventLoop, log: Logger
    ) {
        self.loop = loop
        self.log = log
        state = TelemetryState(settings.telemetry)
        topic = settings.topic
        endpoint = settings.connection.endpoint
        hub = settings.hub
        token = AccessToken(settings.connection)
        var limits = settings.limits
        limits.connections = settings.telemetry.inFlightMax
        limits.bodyBytesMax = NotificationDetails.readMax
        self.limits = limits
        self.tls = tls
        finished = loop.makePromise()
        caughtUp = loop.makePromise()
        startedAt = clock.now.wall
    }

    // MARK: Any thread

    func begin(_ driver: SharedStateDriver, partitions: Int) {
        loop.execute {
            self.driver = driver
            self.partitionCount = partitions
        }
    }

    func hand(_ input: TelemetryInput) { loop.execute { self.handle(input) } }

    // MARK: The loop

    var report: TelemetryReport {
        let now = clock.now.wall
        return TelemetryReport(
            at: now, startedAt: startedAt, figures: state.figures, open: state.openCount,
            oldest: state.oldestAge(at: now),
            problem: state.cannotStore ? .notStored : state.problem ?? (state.isWithoutIDs ? .withoutIDs : nil),
            isAssigned: state.isAssigned)
    }

    func receive(_ events: [SharedStateEvent]) {
        for event in events {
            switch event {
            case .assigned(let partitions, let generation):
                self.generation = generation
                handle(.assigned(partitions, total: partitionCount))
            case .records(let partition, let records): handle(.results(partition: partition, records))
            // Results and telemetry are kept for a limited time.
            case .removed: break
            case .restored(let partition): handle(.restored(partition: partition))
            case .restarted(let partition): handle(.restarted(partition: partition))
            case .revoked: handle(.revoked)
            case .lost: handle(.lost)
            case .committed(let failure): handle(.committed(failure: failure.map { "\($0)" }))
            case .written(let number): handle(.stored(number))
            case .refused(let number, _, let failure):
                log.error("a telemetry record is refused", metadata: ["reason": "\(failure)"])
                handle(.refused(number))
            case .notWritten(let number, let failure): handle(.notStored(number, because: "\(failure)"))
            }
        }
    }

    private func handle(_ input: TelemetryInput) {
        for action in state.handle(input, at: clock.now) { carryOut(action) }
    }

    private func carryOut(_ action: TelemetryAction) {
        switch action {
        case .ask(let id, let notificationID): ask(id, notificationID)
        case .store(let number, let partition, let key, let value):
            driver?.write(
                [ProducedRecord(topic: topic, partition: partition, key: Array(key.utf8), value: value)], as: number)
        case .commit(let offsets): driver?.commit(offsets, generation)
        case .read(let records, let bytes): driver?.handled(records: records, bytes: bytes)
        case .release: driver?.release()
        case .renewToken: token.discard()
        case .wake(let time): wake(at: time)
        case .caughtUp: caughtUp.succeed()
        case .finished: finished.succeed()
        case .note(let note):
            let level: Logger.Level =
                switch note.level {
                case .info: .info
                case .warning: .warning
                case .error: .error
                }
            log.log(level: level, "\(note.text)")
        }
    }

    private func ask(_ id: FollowedSendID, _ notificationID: String) {
        let pool = pool ?? makePool()
        lastRequest += 1
        asked[lastRequest] = id
        pool.authorization = token.headerValue(at: clock.now.wall.milliseconds / 1000)
        let target = HubPath(endpoint: endpoint, hub: hub).details(of: notificationID)
        pool.send([PoolRequest(id: RequestID(rawValue: lastRequest), request: .question(target: target))])
    }

    private func makePool() -> SenderPool {
        let target = SendTarget(endpoint: endpoint, hub: hub)
        let pool = SenderPool(eventLoop: loop, target: target, limits: limits, tls: tls) { [self] results in
            for settled in results { receive(settled) }
        }
        self.pool = pool
        return pool
    }

    private func receive(_ settled: SettledRequest) {
        guard let id = asked.removeValue(forKey: settled.id.rawValue) else { return }
        switch settled.result {
        case .replied(let reply): handle(.answered(id, HubWord(reply, body: reply.body)))
        case .notSent(let failure), .unknown(let failure): handle(.answered(id, .failed("\(failure)")))
        }
    }

    private func wake(at time: Instant) {
        if let alarm, alarm.at == time { return }
        alarm?.task.cancel()
        let task = loop.assumeIsolated().scheduleTask(
            deadline: .uptimeNanoseconds(clock.uptimeNanoseconds(of: time))
        ) { [weak self] in
            self?.alarm = nil
            self?.handle(.tick)
        }
        alarm = (time, task)
    }

    /// Releases everything that waits, because no inputs are handled after this.
    func end() {
        alarm?.task.cancel()
        alarm = nil
        asked = [:]
        pool?.close()
        pool = nil
        finished.succeed()
        caughtUp.succeed()
    }
}
