import ControlIO
import HubIO
import HubModel
import KafkaIO
import KafkaModel
import NewsModel
import NotificationHub
import Testing

@testable import EditorialControl
@testable import PublishEngine
@testable import PublisherService

/// The time at which an engine's wait becomes a reason on `/readyz`.
struct ReadinessTests {
    private static func metrics() throws -> ServiceMetrics {
        ServiceMetrics(
            settings: PublisherSettings(
                kafka: KafkaSettings(bootstrapServers: ["127.0.0.1:9"], group: "g"),
                engine: EngineSettings(
                    lanes: [LaneSettings(name: "live", topics: ["a"])], platforms: [.template],
                    resultsTopic: "results"),
                connection: try ConnectionString(
                    parsing: "Endpoint=http://127.0.0.1:9/;SharedAccessKeyName=a;SharedAccessKey=a2V5"),
                hub: try HubName("n"), limits: .init(connections: 1), deadLetterTopic: "dead"))
    }

    @Test func `partitions that may not be read are a reason until they are read`() throws {
        let metrics = try Self.metrics()
        let partitions = [0, 3].map { TopicPartition(topic: "a", partition: $0) }
        metrics.assigned(lane: LaneID(0), shard: ShardID(0), partitions: partitions)
        let refused = partitions.map {
            let failure = KafkaFailure(
                code: "TOPIC_AUTHORIZATION_FAILED", detail: "Reading \($0) failed: this user may not use the topic",
                remedy: "Grant this user READ.")
            return ($0, failure)
        }
        metrics.unreadable(Dictionary(uniqueKeysWithValues: refused), lane: LaneID(0))
        let expected = ReadinessReason(
            .missingTopic,
            "lane live: reading \(partitions[0]) failed: this user may not use the topic; "
                + "the same for 1 more partition",
            remedy: "grant this user READ", lane: "live")
        #expect(metrics.status.notReady == [expected])
        metrics.unreadable([:], lane: LaneID(0))
        #expect(metrics.status.notReady.isEmpty)
    }

    @Test(arguments: [true, false])
    func `a lane without partitions is a reason at once if it has lost them, and has no lag`(lost: Bool) throws {
        let metrics = try Self.metrics()
        let partition = TopicPartition(topic: "a", partition: 0)
        metrics.assigned(lane: LaneID(0), shard: ShardID(0), partitions: [partition])
        metrics.measured(lane: LaneID(0), [.init(partition: partition, committed: 3, end: 3)], unmeasured: [])
        #expect(metrics.status.lanes.map(\.lagAge) == [.zero])
        metrics.revoked(lane: LaneID(0), shard: ShardID(0), lost: lost)
        metrics.measured(lane: LaneID(0), [], unmeasured: [])
        let status = metrics.status
        #expect(status.notReady.map(\.code) == (lost ? ["not-assigned"] : []))
        #expect(status.lanes.map(\.lagAge) == [nil] && status.lanes.map(\.lag) == [nil])
    }

    private func codes(
        _ reason: Wait.Reason, since age: Duration, blocksReading: Bool = false, ageOnArrival: Duration? = nil
    ) throws -> [String] {
        let metrics = try Self.metrics()
        let now = metrics.clock.now.steady
        let lane = EngineStatus.LaneStatus(
            partitions: 1, buffered: 0, bufferedBytes: 0, ready: 0, delayed: 0, isPaused: false, flood: nil,
            ageOnArrival: ageOnArrival)
        var wait = Wait(lane: LaneID(0), reason: reason, since: now - age, detail: "d", remedy: "r")
        wait.blocksReading = blocksReading
        metrics.assigned(lane: LaneID(0), shard: ShardID(0), partitions: [TopicPartition(topic: "a", partition: 0)])
        metrics.report(
            ShardReport(
                at: now, tally: Tally(lanes: 1, categories: 0), recent: RecentResults(),
                status: EngineStatus(halt: nil, inFlight: 0, concurrencyLimit: 1, lanes: [lane], waits: [wait]),
                limiter: .nothing, limitedFor: Limiter.allCases.map { _ in 0 }, tokens: nil, wire: HubWire(),
                oldestBuffered: [nil], progressAt: now), shard: ShardID(0))
        return metrics.status.notReady.map(\.code)
    }

    @Test(arguments: Wait.Reason.allCases)
    func `each wait that becomes a reason has words on the dashboard`(_ reason: Wait.Reason) throws {
        for code in try codes(reason, since: .seconds(60)) { #expect(ReadinessCode(rawValue: code) != nil) }
    }

    @Test func `a missing token for Kafka is a reason, before the start and later`() {
        let failure = KafkaFailure.token("the token endpoint does not exist", "Check kafka.oauth.tokenEndpoint.")
        let reason = PublisherFailure.kafka(failure).notReady
        #expect(reason == ReadinessReason(kafkaToken: failure))
        #expect(ReadinessCode(rawValue: reason.code) == .kafkaToken)
        #expect(reason.detail == "No token for Kafka: the token endpoint does not exist")
        #expect(reason.remedy == "check kafka.oauth.tokenEndpoint")
        #expect(PublisherFailure.kafka(failure).mayPass)
    }

    @Test func `an editor's stop order is a reason at once`() throws {
        #expect(try codes(.stopped, since: .zero) == ["stopped"])
    }

    @Test func `records removed before they were read are a reason for ten minutes`() throws {
        let partition = TopicPartition(topic: "a", partition: 3)
        var removed = RemovedUnread()
        let start = Instant(nanoseconds: 0)
        #expect(removed.notReady(lane: "live", at: start) == nil)
        removed.add(RemovedRecords(partition, 10..<595), at: start)
        removed.add(RemovedRecords(partition, 700..<701), at: start + .seconds(60))
        #expect(removed.total == 586)
        let reason = try #require(removed.notReady(lane: "live", at: start + .seconds(660)))
        #expect(reason.code == "unread-removed" && reason.lane == "live")
        #expect(reason.detail.contains("700 to 700 of \(partition)") && reason.detail.contains("586"))
        #expect(reason.remedy.contains("retention.ms"))
        #expect(removed.notReady(lane: "live", at: start + .seconds(661)) == nil)
        #expect(ReadinessCode.unreadRemoved.letsNewsPass)
    }

    @Test func `a lane whose news is too old on arrival is a reason although news passes`() throws {
        #expect(try codes(.retry, since: .zero, ageOnArrival: .seconds(1_200)) == ["old-on-arrival"])
        #expect(ReadinessCode.oldOnArrival.letsNewsPass)
    }

    @Test func `an embargo is a reason only if it blocks reading`() throws {
        #expect(try codes(.embargo, since: .seconds(60)).isEmpty)
        #expect(try codes(.embargo, since: .seconds(6), blocksReading: true) == ["embargo"])
        #expect(try codes(.embargo, since: .seconds(4), blocksReading: true).isEmpty)
    }

    @Test func `a run that was stopped before it had caught up has failed`() {
        let partition = TopicPartition(topic: "a", partition: 0)
        let catchUp = CatchUp(ends: [partition: 5])
        #expect(catchUp.failure(removed: 7)?.description == "stopped before it had caught up")
        #expect(catchUp.failure(removed: 0)?.isConfiguration == false)
        _ = catchUp.committed([PartitionOffset(partition, 5)])
        #expect(catchUp.failure(removed: 0) == nil)
        #expect(catchUp.failure(removed: 7)?.description.contains("7 records were removed") == true)
    }

    private func reasons(_ alarms: [ControlStatus.Alarm], isKnown: Bool = true) -> [ReadinessReason] {
        ControlStatus(
            isKnown: isKnown, wasKnown: isKnown, link: .following, standing: StandingOrders(), processes: 1,
            silence: .zero, counts: .init(), alarms: alarms
        ).notReady(ControlTopics())
    }

    @Test func `a missing control topic is reported with the consequence and the remedy`() throws {
        let reason = try #require(reasons([.neverThere], isKnown: false).first)
        #expect(reason.code == "orders-unknown" && reason.detail.contains("nothing is sent"))
        #expect(reason.remedy.contains("newswire topics --create"))
        #expect(reasons([.neverThere], isKnown: false).count == 1)
        // An unrelated reason does not hide this one.
        #expect(reasons([.auditGone]).first?.detail.contains("does not exist, or this user may not see it") == true)
        #expect(reasons([.auditGone], isKnown: false).map(\.code) == ["audit-missing", "orders-unknown"])
    }

    @Test func `an order of an unknown kind is the reason why nothing is sent`() throws {
        let found = reasons([.unknownOrders(["hold/story/a", "k2", "k3", "k4", "k5"])], isKnown: false)
        #expect(found.map(\.code) == ["orders-unknown"])
        #expect(found.first?.detail.contains("the key hold/story/a, k2, k3 and 2 more: nothing is sent") == true)
        #expect(found.first?.remedy.contains("tombstone") == true)
    }

    @Test func `recalls by events without room are a reason with a remedy, although news passes`() throws {
        let reason = try #require(reasons([.unordered(1)]).first)
        #expect(reason.code == "too-many-orders")
        #expect(reason.detail.hasPrefix("1 recall by events had no room since the start"))
        #expect(reason.remedy.contains("newswire recall"))
        #expect(ReadinessCode.tooManyOrders.letsNewsPass)
    }

    @Test func `an open transaction on the control topic is reported with its effect`() throws {
        let stopped = reasons([.heldUp(.seconds(7), stops: true)], isKnown: false)
        #expect(stopped.map(\.code) == ["control-transaction"])
        #expect(stopped.first?.detail.contains("open for 7 s") == true)
        #expect(stopped.first?.detail.contains("nothing is sent") == true)
        let running = try #require(reasons([.heldUp(.seconds(7), stops: false)]).first)
        #expect(running.detail.contains("news is sent by the last orders known"))
    }

    @Test(arguments: [
        ("TOPIC_AUTHORIZATION_FAILED", "", "grant this user DESCRIBE and WRITE on it"),
        (
            "UNKNOWN_TOPIC_OR_PART", "Create the topic (newswire topics --create) or correct its name.",
            "create the topic (newswire topics --create) or correct its name"
        ), ("_MSG_TIMED_OUT", "", "look at the brokers"),
    ])
    func `a topic that refuses our records is reported with the remedy`(
        code: String, known: String, remedy: String
    ) {
        let failure = KafkaFailure(code: code, detail: "d", remedy: known)
        let found = reasons([.notWritten(failure), .notAudited(failure)])
        #expect(found.map(\.code) == ["control-not-written", "audit-not-written"])
        #expect(found.map(\.remedy) == [remedy, remedy])
    }

    @Test func `a short wait becomes a reason only after it has lasted`() throws {
        // A start in the future keeps the test independent of its own duration.
        #expect(try codes(.results, since: .seconds(-3_600)) == [])
        #expect(try codes(.results, since: .seconds(6)) == ["results"])
    }
}
