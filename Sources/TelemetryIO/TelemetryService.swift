import Foundation
public import HubIO
public import HubModel
public import HubTelemetry
public import KafkaIO
public import KafkaModel
public import Logging
import NIOCore
import NIOPosix
import NewsModel
public import NotificationHub

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

    private let settings: Settings
    private let log: Logger
    private let group: MultiThreadedEventLoopGroup
    private let core: TelemetryCore
    private let life = SharedStateLife()
    private let throttle = FailureThrottle()

    /// The last part of the consumer group's name.
    public static let groupName = "telemetry"

    /// - Throws: if the trusted certificates cannot be read.
    public init(_ settings: Settings, log: Logger) throws(TrustRootsProblem) {
        self.settings = settings
        self.log = log
        let tls =
            settings.connection.endpoint.scheme == .https
            ? try settings.trustRoots.makeHubTLS(offersHTTP2: settings.limits.offersHTTP2) : nil
        group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        core = TelemetryCore(settings, tls: tls, loop: group.next(), log: log)
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
        let end: Result<Void, KafkaFailure>
        do throws(KafkaFailure) {
            try await life.run(
                isPatient: !untilCaughtUp,
                whenWaiting: { [log] in log.warning("waiting for Kafka", metadata: ["reason": "\($0)"]) },
                prepare: { [self] () throws(KafkaFailure) in try prepare() })
            end = .success(())
        } catch {
            end = .failure(error)
        }
        await close(whenEnded)
        try end.get()
    }

    /// Stops polling, commits, and ends `run`. May be called on any thread; repeated calls have no effect.
    public func finish() {
        guard life.finish() else { return }
        core.finished.futureResult.whenComplete { [life] _ in life.driver?.close() }
        core.loop.scheduleTask(in: .nanoseconds(settings.shutdownDeadline.nanoseconds)) { [core] in core.end() }
        core.hand(.finish)
    }

    private func close(_ whenEnded: @Sendable (TelemetryReport) -> Void) async {
        if let report = await report() { whenEnded(report) }
        try? await core.loop.submit { [core] in core.end() }.get()
        try? await group.shutdownGracefully()
    }

    /// The state of the process; `nil` once it has ended.
    public func report() async -> TelemetryReport? {
        var report = try? await core.loop.submit { [core] in core.report }.get()
        report?.kafkaProblem = settings.kafka.login.notReady
        return report
    }

    // MARK: Starting

    /// Checks the topics. Blocks.
    private func prepare() throws(KafkaFailure) -> SharedStateDriver {
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
            core.loop.execute { core.receive(events) }
        } notify: { [self] notice in
            receive(notice)
        }
        core.begin(driver, partitions: results)
        return driver
    }

    /// Handles a notice on the polling thread.
    private func receive(_ notice: KafkaNotice) {
        switch notice {
        case .error(let failure) where failure.isFatal: life.close(failure)
        case .error(let failure): log.log(level: throttle.isDue(failure) ? .warning : .debug, "\(failure)")
        case .log(let severity, let text): log.log(level: severity <= 3 ? .warning : .debug, "\(text)")
        case .statistics, .refused, .unreadable: break
        case .closed: life.close()
        }
    }
}
