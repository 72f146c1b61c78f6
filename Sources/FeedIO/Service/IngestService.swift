public import Feeds
import Foundation
public import KafkaIO
public import KafkaModel
public import Logging
import NIOCore
import NIOPosix
import NewsModel

/// One process that follows feeds: an ingester on an event loop, its fetches, and its share of the state topic.
public final class IngestService: Sendable {
    public struct Settings: Sendable {
        public var kafka: KafkaSettings
        public var ingest: IngestSettings
        public var topics: IngestTopics
        /// Maximum duration of `finish`.
        public var shutdownDeadline: Duration = .seconds(20)

        public init(kafka: KafkaSettings, ingest: IngestSettings, topics: IngestTopics) {
            self.kafka = kafka
            self.ingest = ingest
            self.topics = topics
        }
    }

    private let settings: Settings
    private let log: Logger
    private let core: IngestCore
    private let life = SharedStateLife()
    private let stopped: StoppedFeeds
    private let complaints: Complaints

    private static let ordersMax = Duration.seconds(10)

    public init(_ settings: Settings, fetcher: Fetcher, log: Logger) {
        self.settings = settings
        self.log = log
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let core = IngestCore(fetcher: fetcher, loop: loop, log: log)
        let complaints = Complaints(log)
        stopped = StoppedFeeds(settings.kafka, topic: settings.topics.control) {
            core.hand(.stopped($0))
        } notify: {
            complaints.note($0)
        }
        (self.core, self.complaints) = (core, complaints)
    }

    // MARK: Life

    /// Follows feeds until `finish` has been called and everything is stored.
    ///
    /// - Parameter isPatient: false to fail at the first obstacle, because a job that cannot start must not hang.
    /// - Throws: a failure that only a person or a restart can resolve.
    public func run(isPatient: Bool = true) async throws(KafkaFailure) {
        defer { close() }
        try await life.run(
            isPatient: isPatient,
            whenWaiting: { [log] in log.warning("waiting for Kafka", metadata: ["reason": "\($0)"]) },
            prepare: { [self] () throws(KafkaFailure) in try prepare() })
    }

    /// Finishes work in progress, begins nothing new, and ends `run`. Any thread; later calls do nothing.
    public func finish() {
        guard life.finish() else { return }
        core.finished.futureResult.whenComplete { [life] _ in life.driver?.close() }
        core.loop.scheduleTask(in: .nanoseconds(settings.shutdownDeadline.nanoseconds)) { [core] in core.end() }
        core.hand(.finish)
    }

    private func close() {
        stopped.close()
        core.loop.execute { [core] in core.end() }
    }

    /// Applies other feeds, or other rules for them. Any thread.
    ///
    /// - Returns: lanes that the settings at the start did not have. If there are any, nothing is applied.
    public func reload(_ ingest: IngestSettings) -> [String] {
        let unknown = ingest.lanes.filter { settings.topics.lanes[$0] == nil }.sorted()
        if unknown.isEmpty { core.hand(.rules(ingest)) }
        return unknown
    }

    /// Receives a call of a WebSub hub. Any thread.
    public func receive(_ id: CallbackID, _ call: WebSubCall) { core.hand(.called(id, call)) }

    /// - Parameter answer: answers a call of a WebSub hub.
    public func answerCalls(by answer: @escaping @Sendable (CallbackID, WebSubAnswer) -> Void) {
        core.use(answering: answer)
    }

    /// Polls each feed of this process once, and waits until all resulting writes are stored. Must be called once,
    /// before or during `run`.
    ///
    /// - Returns: the status of the feeds at that time.
    public func pollOnce() async -> [FeedStatus] {
        (try? await core.pollOnce { $0.books?.isRestored ?? false }.get()) ?? []
    }

    private let startedAt = ServiceClock.wall

    /// The condition of the process.
    public func report() async -> IngestReport {
        let (feeds, isRestored, isTopicMissing, unreadFor, unwrittenFor) =
            (try? await core.loop.submit { [core] in
                (core.statuses, core.books?.isRestored, core.books?.isTopicMissing, core.unreadFor, core.unwrittenFor)
            }.get()) ?? ([], nil, nil, nil, nil)
        let reason: ReadinessReason? =
            switch isRestored {
            case true?: Self.reason(unwrittenFor: unwrittenFor, unreadFor: unreadFor, topic: settings.topics.state)
            case false? where isTopicMissing == true:
                .init(
                    code: "state-topic-missing",
                    detail: "the topic \(settings.topics.state) does not exist any more, so no feed is followed",
                    remedy: "run newswire topics --create; each feed is then read as if it were new")
            case false?:
                .init(
                    code: "restoring",
                    detail: "the group has not shared out the feeds yet, or their state is being read",
                    remedy: "wait a moment; if it stays so, look for errors of Kafka in the log")
            case nil:
                .init(
                    code: "kafka", detail: "Kafka cannot be reached, or its state topic cannot be used",
                    remedy: "see the log; newswire check tests the connection")
            }
        return IngestReport(
            at: ServiceClock.wall, startedAt: startedAt, feeds: feeds,
            notReady: (settings.kafka.login.notReady ?? reason).map { [$0] } ?? [])
    }

    /// The reason why feeds stand still although their state was read; `nil` if they do not.
    static func reason(unwrittenFor: Duration?, unreadFor: Duration?, topic: String) -> ReadinessReason? {
        if let unwrittenFor, unwrittenFor >= Ingester.unwrittenMax {
            return .init(
                code: "not-stored",
                detail:
                    "Kafka has not taken what feeds brought for \(unwrittenFor.components.seconds) s, so they stand still",
                remedy: "see the log for the refusal; \(topic) and the lanes' topics may allow too small records")
        }
        guard let unreadFor, unreadFor >= unreadMax else { return nil }
        return .init(
            code: "state-not-read",
            detail:
                "what was written to \(topic) \(unreadFor.components.seconds) s ago cannot be read back, so feeds wait",
            remedy: "end the open transaction of another producer (kafka-transactions.sh find-hanging)")
    }

    private static let unreadMax = Duration.seconds(20)

    // MARK: Starting

    /// Checks the state topic and reads its layout. Blocks.
    private func prepare() throws(KafkaFailure) -> SharedStateDriver {
        let topic = settings.topics.state
        let rules = TopicRules(lanes: [], resultsTopic: "", deadLetterTopic: "", feedStateTopic: topic)
        let admin = try KafkaAdmin(settings: settings.kafka)
        let states = try admin.states(of: [topic])
        for finding in rules.findings(states) where finding.use == .feedState {
            guard finding.severity != .refuse else {
                throw .configuration("\(finding.topic) \(finding.sentence)", remedy: finding.remedy)
            }
            log.warning("\(finding)")
        }
        let count = states[topic]?.partitions ?? 1
        let layout = try StateLayout.inForce(settings.kafka, topic: topic, count: count)
        if layout.partitions > count {
            throw .configuration(
                "Topic \(topic) has \(count) partitions, but feeds were shared out by \(layout.partitions)",
                remedy: "Widen it to \(layout.partitions) partitions, or delete it to start again without alerts.")
        }
        if layout.partitions < count {
            log.notice(
                "the state topic has grown; feeds stay shared out as before",
                metadata: ["partitions": "\(count)", "used": "\(layout.partitions)"])
        }
        try stopped.start()
        if !stopped.waitForFirstReading(Self.ordersMax) {
            log.warning(
                "feeds are polled before editors' orders are known: the control topic does not answer",
                metadata: ["topic": "\(settings.topics.control)"])
        }
        core.loop.execute { [core] in core.books = StateBooks(layout: layout, topic: topic) }
        let written = [topic] + settings.topics.lanes.values
        let driver = try SharedStateDriver(
            settings: admin.limitingBatches(settings.kafka, to: written), name: "feeds", topic: topic, partitions: count
        ) { [self] events in
            core.loop.execute { self.receive(events) }
        } notify: { [self] notice in
            receive(notice)
        }
        var ingest = settings.ingest
        ingest.allLanes = Set(settings.topics.lanes.keys)
        ingest.partitions = layout.partitions
        ingest.writer = UUID().uuidString
        ingest.secret = (0..<32).map { _ in UInt8.random(in: .min ... .max) }
        core.begin(
            ingest,
            storingIn: KafkaFeedStore(driver: driver, topics: settings.topics, defaultLane: ingest.lane, log: log))
        return driver
    }

    // MARK: From Kafka

    /// Runs on the core's loop.
    private func receive(_ events: [SharedStateEvent]) {
        let driver = life.driver
        guard let books = core.books else { return }
        var (records, bytes) = (0, 0)
        for event in events {
            if case .records(_, let list) = event {
                records += list.count
                bytes += list.reduce(0) { $0 + $1.byteCount }
            }
            for input in books.translate(event) { core.handle(input) }
            if let layout = books.missingLayout() {
                if case .restored = event {
                    log.warning(
                        "the state topic was recreated: each feed is read as if it were new, as its onFirstSight says")
                }
                driver?.write([layout], as: WriteNumber.layout.raw)
            }
        }
        if records > 0 { driver?.handled(records: records, bytes: bytes) }
    }

    /// Runs on the polling thread.
    private func receive(_ notice: KafkaNotice) {
        switch notice {
        case .error(let failure) where failure.isFatal: life.close(failure)
        case .error(let failure):
            complaints.note(failure)
            core.loop.execute { [core] in core.books?.note(failure) }
        case .log(let severity, let text): log.log(level: severity <= 3 ? .warning : .debug, "\(text)")
        case .statistics, .refused, .unreadable: break
        case .closed: life.close()
        }
    }
}

/// Logs temporary failures of Kafka. Each kind is logged at most once per interval, because an unreachable broker
/// causes dozens of failures.
final class Complaints: Sendable {
    private let log: Logger
    private let throttle = FailureThrottle()

    init(_ log: Logger) { self.log = log }

    func note(_ failure: KafkaFailure) {
        log.log(level: throttle.isDue(failure) ? .warning : .debug, "\(failure)")
    }
}
