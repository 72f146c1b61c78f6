import HubIO
import KafkaIO
import NewsModel
import NotificationHub
import PublishEngine
import Testing

@testable import PublisherService

@Suite struct PreflightTests {
    private func preflight(_ topics: [(String, Int)]) throws -> Preflight {
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
        return try withExtendedLifetime(broker) { try Preflight(settings, measuringEnds: false) }
    }

    @Test func `partitions that cannot be served do not prevent the start`() throws {
        let preflight = try preflight([("a", 4), ("b", 3), ("c", 6), ("results", 2)])
        #expect(preflight.lanePartitions == [7, 6])
        #expect(
            preflight.warnings.map { String($0.prefix { $0 != ";" }) } == [
                "topic b (lane live) has 3 partitions, but a of the same lane has 4",
                "topic results (results) has 2 partitions, but c has 6: records from partition 2 on wait",
                "topic dead (dead letters) does not exist, or this user may not see it",
            ])
    }

    @Test func `without a source or results topic nothing starts`() throws {
        let failure = #expect(throws: PublisherFailure.self) { try preflight([("a", 4), ("c", 6), ("dead", 1)]) }
        guard case .topics(let problems)? = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(problems.map { $0.prefix { $0 != "(" } } == ["topic b ", "topic results "])
    }
}
