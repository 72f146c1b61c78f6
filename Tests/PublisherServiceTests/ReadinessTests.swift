import HubIO
import KafkaIO
import KafkaModel
import NewsModel
import NotificationHub
import Testing

@testable import PublishEngine
@testable import PublisherService

/// When a wait of an engine becomes a reason of `/readyz`.
struct ReadinessTests {
    private func codes(_ reason: Wait.Reason, since age: Duration) throws -> [String] {
        let settings = PublisherSettings(
            kafka: KafkaSettings(bootstrapServers: ["127.0.0.1:9"], group: "g"),
            engine: EngineSettings(
                lanes: [LaneSettings(name: "live", topics: ["a"])], platforms: [.template], resultsTopic: "results"),
            connection: try ConnectionString(
                parsing: "Endpoint=http://127.0.0.1:9/;SharedAccessKeyName=a;SharedAccessKey=a2V5"),
            hub: try HubName("n"), limits: .init(connections: 1), deadLetterTopic: "dead")
        let telemetry = Telemetry(settings: settings)
        let now = telemetry.clock.now.steady
        let lane = EngineStatus.LaneStatus(
            partitions: 1, held: 0, heldBytes: 0, ready: 0, delayed: 0, isPaused: false, flood: nil)
        let wait = Wait(lane: LaneID(0), reason: reason, since: now - age, detail: "d", remedy: "r")
        telemetry.assigned(lane: LaneID(0), shard: ShardID(0), partitions: [TopicPartition(topic: "a", partition: 0)])
        telemetry.report(
            ShardReport(
                at: now, tally: Tally(lanes: 1, categories: 0), recent: RecentResults(),
                status: EngineStatus(halt: nil, inFlight: 0, concurrencyLimit: 1, lanes: [lane], waits: [wait]),
                limiter: .nothing, limitedFor: Limiter.allCases.map { _ in 0 }, tokens: nil, openConnections: 0,
                oldestHeld: [nil], progressAt: now), shard: ShardID(0))
        return telemetry.status.notReady.map(\.code)
    }

    @Test func `what an editor has stopped is a reason at once`() throws {
        #expect(try codes(.stopped, since: .zero) == ["stopped"])
    }

    @Test func `what may be over in a moment is none before it has lasted`() throws {
        // However long this test takes.
        #expect(try codes(.results, since: .seconds(-3_600)) == [])
        #expect(try codes(.results, since: .seconds(6)) == ["results"])
    }
}
