import HubIO
import HubModel
import HubTelemetry
import KafkaIO
import KafkaModel
import Logging
import NIOCore
import NIOSSL
import NewsModel
import NotificationHub

/// Carries out the actions of a `TelemetryState`. Confined to one event loop.
final class TelemetryCore: @unchecked Sendable {
    // Created on one thread, then used only on the loop.
    let loop: any EventLoop
    private var state: TelemetryState
    private let questions: HubQuestions
    private var token: AccessToken
    private let endpoint: HubEndpoint
    private let hub: HubName
    private let topic: String
    private let log: Logger
    private let clock = ServiceClock()
    private var driver: SharedStateDriver?
    /// The number of partitions of the results topic.
    private var partitionCount = 0
    private var alarm: (at: Instant, task: Scheduled<Void>)?
    private let startedAt: Instant
    /// Succeeds when everything is committed after `finish`.
    let finished: EventLoopPromise<Void>
    let caughtUp: EventLoopPromise<Void>

    init(
        _ settings: TelemetryService.Settings, tls: NIOSSLContext?, loop: any EventLoop, log: Logger
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
        questions = HubQuestions(eventLoop: loop, endpoint: endpoint, limits: limits, tls: tls)
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
            oldest: state.oldestAge(at: now), problem: state.problem ?? (state.isWithoutIDs ? .withoutIDs : nil),
            isAssigned: state.isAssigned)
    }

    func receive(_ events: [SharedStateEvent]) {
        for event in events {
            switch event {
            case .assigned(let partitions): handle(.assigned(partitions, total: partitionCount))
            case .records(let partition, let records): handle(.results(partition: partition, records))
            case .restored(let partition): handle(.restored(partition: partition))
            case .restarted(let partition): handle(.restarted(partition: partition))
            case .revoked: handle(.revoked)
            case .lost: handle(.lost)
            case .committed(let failure): handle(.committed(failure == nil))
            case .written(let number): handle(.stored(number))
            case .refused(let number, _, let failure):
                log.error("a telemetry record is refused", metadata: ["reason": "\(failure)"])
                handle(.refused(number))
            case .notWritten(let number, _): handle(.notStored(number))
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
        case .commit(let offsets): driver?.commit(offsets)
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
        questions.authorization = token.headerValue(at: clock.now.wall.milliseconds / 1000)
        questions.ask(HubPath(endpoint: endpoint, hub: hub).details(of: notificationID)) { [self] result in
            switch result {
            case .success(let answer): handle(.answered(id, HubWord(answer.reply, body: answer.body)))
            case .failure(let failure): handle(.answered(id, .failed("\(failure)")))
            }
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
        questions.close()
        finished.succeed()
        caughtUp.succeed()
    }
}
