import HubIO
import HubModel
import KafkaIO
import KafkaModel
import NewsModel
import NotificationHub
import PublishEngine
import Testing

@testable import PublisherService

@Suite struct PreflightTests {
    private func preflight(_ topics: [(String, Int)], measuringEnds: Bool = false) throws -> Preflight {
        let broker = try EmbeddedBroker(topics: topics)
        let lanes = [
            LaneSettings(name: "live", topics: ["a", "b"], maxAge: .seconds(900)),
            LaneSettings(name: "backfill", topics: ["c"]),
        ]
        let settings = PublisherSettings(
            kafka: broker.settings(group: "test"),
            engine: EngineSettings(lanes: lanes, platforms: [.template], resultsTopic: "results"),
            connection: try ConnectionString(
                parsing: "Endpoint=http://127.0.0.1:1/;SharedAccessKeyName=n;SharedAccessKey=a2V5"),
            hub: try HubName("h"), limits: SenderLimits(connections: 1), deadLetterTopic: "dead")
        return try withExtendedLifetime(broker) { try Preflight(settings, measuringEnds: measuringEnds) }
    }

    @Test func `partitions that cannot be served do not prevent the start`() throws {
        let preflight = try preflight([("a", 4), ("b", 3), ("c", 6), ("results", 2)])
        #expect(preflight.lanePartitions == [7, 6])
        #expect(
            preflight.findings.prefix(3).map { String($0.description.prefix { $0 != ";" }) } == [
                "topic b (lane live) has 3 partitions, but a of the same lane has 4",
                "topic results (results) has 2 partitions, but c has 6: records from partition 2 on wait",
                "topic dead (dead letters) does not exist, or this user may not see it",
            ])
    }

    @Test func `a missing source topic affects only its lane`() throws {
        let preflight = try preflight([("a", 4), ("b", 4), ("results", 4), ("dead", 1)])
        #expect(preflight.lanePartitions == [8, 0])
        #expect(preflight.findings.first?.description.hasPrefix("topic c (lane backfill)") == true)
    }

    @Test func `missing control topics are reported with the consequences`() throws {
        let preflight = try preflight([("a", 4), ("b", 4), ("c", 4), ("results", 4), ("dead", 1)])
        #expect(
            preflight.findings.map { String($0.description.prefix { $0 != ";" }) } == [
                "topic news.control (control) does not exist, or this user may not see it: no order reaches this process,"
                    + " and a recall by an event reaches this one only",
                "topic news.audit (audit) does not exist, or this user may not see it: who has given an order, and where it"
                    + " was applied, is not recorded",
                "topic news.held (held events) does not exist, or this user may not see it: what is under embargo waits in"
                    + " memory, up to a bound, and then holds back its partition",
            ])
    }

    @Test func `a missing results topic prevents every start, a missing source that of a job`() throws {
        #expect(try missing([("a", 4), ("c", 6), ("dead", 1)], measuringEnds: false) == ["results"])
        #expect(try missing([("a", 4), ("c", 6), ("dead", 1)], measuringEnds: true) == ["b", "results"])
    }

    /// The topics whose absence prevents a start.
    private func missing(_ topics: [(String, Int)], measuringEnds: Bool) throws -> [String] {
        let failure = #expect(throws: PublisherFailure.self) { try preflight(topics, measuringEnds: measuringEnds) }
        guard case .topics(let problems)? = failure else { return [] }
        #expect(failure?.mayPass == true)
        return problems.map(\.topic)
    }

    @Test func `an unresponsive broker may recover, wrong properties do not`() {
        #expect(PublisherFailure.kafka(KafkaFailure(code: "_TRANSPORT", detail: "")).mayPass)
        #expect(!PublisherFailure.kafka(.configuration("", remedy: "")).mayPass)
        #expect(!PublisherFailure.settings("").mayPass)
        let results = TopicState(partitions: 1, configuration: .known(["cleanup.policy": "compact"]))
        let findings = TopicRules(lanes: [], resultsTopic: "results", deadLetterTopic: "dead").findings([
            "results": results
        ])
        #expect(!PublisherFailure.topics(findings.filter { $0.severity == .refuse }).mayPass)
    }

    @Test func `a changed setting of a topic is reported once, and again after it was mended`() {
        let rules = TopicRules(lanes: [], resultsTopic: "results", deadLetterTopic: "dead")
        func states(_ policy: String) -> [String: TopicState] {
            ["results": TopicState(partitions: 1, configuration: .known(["cleanup.policy": policy]))]
        }
        var log = TopicLog(rules: rules, known: rules.findings(states("delete")))
        let changes = ["delete", "compact", "compact", "delete", "compact"].map { log.changes(states($0)) }
        #expect(changes.map { $0.map(\.problem) } == [[], [.compacted], [], [], [.compacted]])
        // A broker that restarts may not describe the topic for a moment.
        #expect(log.changes([:]).isEmpty && log.changes(states("compact")).isEmpty)
    }

    @Test func `an obstacle is reported once, when it changes, and every minute`() {
        var wait = StartWait()
        let start = Instant(nanoseconds: 0)
        #expect(!wait.hasWaited)
        let told = [("a", 0), ("a", 59), ("b", 60), ("b", 119), ("b", 120)].map { reason, second in
            wait.isWorthTelling(reason, at: start + .seconds(second))
        }
        #expect(told == [true, false, true, false, true])
        #expect(wait.hasWaited)
        #expect((0..<5).map { _ in wait.nextPause() } == [1, 2, 4, 5, 5].map { .seconds($0) })
    }
}
