import Foundation
public import HubIO
public import HubTelemetry
public import KafkaIO
public import KafkaModel
public import Logging
import NIOCore
import NIOPosix
import NIOSSL
import NewsModel
public import NotificationHub
import Synchronization

/// A process that polls the hub about accepted sends: `TelemetryState` on its own event loop, its questions, and its part of the
/// results topic. It shares no connections, pace or threads with a publisher.
public final class TelemetryService: Sendable {
    public struct Settings: Sendable {
        public var kafka: KafkaSettings
        public var telemetry: TelemetrySettings
        public var resultsTopic: String
        /// The topic for the records. Each is written to the partition with the number of its result's.
        public var topic: String
        public var connection: ConnectionString
        public var hub: HubName
        public var limits: SenderLimits
        public var trustRoots: TrustRoots
        /// The longest time that `finish` may take.
        public var shutdownDeadline: Duration = .seconds(20)

        public init(
            kafka: KafkaSettings, telemetry: TelemetrySettings, resultsTopic: String, topic: String,
            connection: ConnectionString, hub: HubName, limits: SenderLimits, trustRoots: TrustRoots
        ) {
            self.kafka = kafka
            self.telemetry = telemetry
            self.resultsTopic = resultsTopic
            self.topic = topic
            self.connection = connection
            self.hub = hub
            self.limits = limits
            self.trustRoots = trustRoots
        }
    }

    private struct Life {
        var isFinishing = false
        var failure: KafkaFailure?
        var driver: SharedStateDriver?
    }

    private let settings: Settings
    private let log: Logger
    private let group: MultiThreadedEventLoopGroup
    private let core: TelemetryCore
    private let life = Mutex(Life())
    /// Signalled at the end, to wake the thread that waits for brokers.
    private let finishing = DispatchSemaphore(value: 0)
    private let closed: EventLoopPromise<Void>
    private let throttle = FailureThrottle()

    private static let brokerPause = DispatchTimeInterval.seconds(2)
    /// The last part of the consumer group's name.
    public static let groupName = "telemetry"

    /// - Throws: if the trusted certificates cannot be read.
    public init(_ settings: Settings, log: Logger) throws(TrustRootsProblem) {
        self.settings = settings
        self.log = log
        let tls = settings.connection.endpoint.scheme == .https ? try settings.trustRoots.makeContext() : nil
        group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        core = TelemetryCore(settings, tls: tls, loop: group.next(), log: log)
        closed = core.loop.makePromise()
    }

    // MARK: Life

    /// Polls until `finish` was called and everything is committed. Call it once.
    ///
    /// - Parameters:
    ///   - untilCaughtUp: ends once all results that were on the topic at the start are settled.
    ///   - whenEnded: receives the last report.
    /// - Throws: a failure that only a person or a restart can resolve.
    public func run(
        untilCaughtUp: Bool = false, whenEnded: @escaping @Sendable (TelemetryReport) -> Void = { _ in }
    ) async throws(KafkaFailure) {
        if untilCaughtUp { core.caughtUp.futureResult.whenComplete { [self] _ in finish() } }
        do {
            let driver = try await onThread { [self] () throws(KafkaFailure) in
                try prepare(isPatient: !untilCaughtUp)
            }
            if let driver {
                // A closed driver leaves the group or never joins it.
                if life.withLock({ $0.isFinishing }) { driver.close() } else { driver.start() }
                try? await closed.futureResult.get()
            }
        } catch let failure as KafkaFailure {
            await close(whenEnded)
            throw failure
        } catch {}
        await close(whenEnded)
        if let failure = life.withLock({ $0.failure }) { throw failure }
    }

    /// Stops polling, commits, and ends `run`. May be called on any thread; repeated calls have no effect.
    public func finish() {
        let isFirst = life.withLock { life in
            defer { life.isFinishing = true }
            return !life.isFinishing
        }
        guard isFirst else { return }
        finishing.signal()
        core.finished.futureResult.whenComplete { [self] _ in life.withLock { $0.driver }?.close() }
        core.loop.scheduleTask(in: .nanoseconds(settings.shutdownDeadline.nanoseconds)) { [core] in core.end() }
        core.hand(.finish)
    }

    private func close(_ whenEnded: @Sendable (TelemetryReport) -> Void) async {
        // Without a driver no other code succeeds the promise.
        closed.succeed()
        if let report = await report() { whenEnded(report) }
        try? await core.loop.submit { [core] in core.end() }.get()
        try? await group.shutdownGracefully()
    }

    /// The state of the process; `nil` once it has ended.
    public func report() async -> TelemetryReport? {
        try? await core.loop.submit { [core] in core.report }.get()
    }

    // MARK: Starting

    /// Waits for brokers and checks the topics. Blocks.
    ///
    /// - Parameter isPatient: false to fail at the first obstacle, because a job that cannot start must not hang.
    /// - Returns: `nil` if `finish` was called first.
    private func prepare(isPatient: Bool) throws(KafkaFailure) -> SharedStateDriver? {
        var isFirst = true
        while !life.withLock({ $0.isFinishing }) {
            do throws(KafkaFailure) {
                return try prepareOnce()
            } catch {
                guard isPatient, error.isRetriable else { throw error }
                if isFirst { log.warning("waiting for Kafka", metadata: ["reason": "\(error)"]) }
                isFirst = false
                if finishing.wait(timeout: .now() + Self.brokerPause) == .success { return nil }
            }
        }
        return nil
    }

    private func prepareOnce() throws(KafkaFailure) -> SharedStateDriver {
        let admin = try KafkaAdmin(settings: settings.kafka)
        let counts = try admin.partitionCounts(of: [settings.resultsTopic, settings.topic])
        guard let results = counts[settings.resultsTopic] else { throw .missing(topic: settings.resultsTopic) }
        guard let own = counts[settings.topic] else { throw .missing(topic: settings.topic) }
        guard own >= results else {
            throw .configuration(
                "Topic \(settings.topic) has fewer partitions (\(own)) than \(settings.resultsTopic) (\(results))",
                remedy: "Widen it: newswire topics --create --config FILE")
        }
        let driver = try SharedStateDriver(
            settings: admin.limitingBatches(settings.kafka, to: [settings.topic]), name: Self.groupName,
            topic: settings.resultsTopic, from: .committed, partitions: results
        ) { [core] events in
            core.loop.execute { core.take(events) }
        } notify: { [self] notice in
            take(notice)
        }
        core.begin(driver, partitions: results)
        life.withLock { $0.driver = driver }
        return driver
    }

    /// Handles a notice on the polling thread.
    private func take(_ notice: KafkaNotice) {
        switch notice {
        case .error(let failure) where failure.isFatal:
            life.withLock { $0.failure = failure }
            closed.succeed()
        case .error(let failure): log.log(level: throttle.isDue(failure) ? .warning : .debug, "\(failure)")
        case .log(let severity, let text): log.log(level: severity <= 3 ? .warning : .debug, "\(text)")
        case .statistics, .refused: break
        case .closed: closed.succeed()
        }
    }

    private func onThread<Value: Sendable>(
        _ body: @escaping @Sendable () throws(KafkaFailure) -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
        }
    }
}
