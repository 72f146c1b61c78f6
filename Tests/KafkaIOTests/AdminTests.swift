import KafkaIO
import KafkaModel
import NewsModel
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(15)))
struct AdminTests {
    @Test func `a broker that does not know the request causes no failure`() throws {
        let broker = try Broker(("news", 3))
        let admin = try KafkaAdmin(settings: broker.settings)
        let states = try admin.states(of: [broker.topic("news"), broker.topic("absent")])
        #expect(states.mapValues(\.partitions) == [broker.topic("news"): 3])
        if Broker.external == nil { #expect(states.values.allSatisfy { $0.configuration == .unreported }) }
    }

    @Test func `topics that the broker does not show in time are reported with the time waited`() throws {
        let broker = try Broker(("news", 3))
        let admin = try KafkaAdmin(settings: broker.settings)
        try admin.waitUntilVisible([broker.topic("news"): 3])
        try admin.waitUntilVisible([:], within: .zero)
        for (topic, shown) in [
            (broker.topic("absent"), "shows nothing of it"), (broker.topic("news"), "shows 3 partitions"),
        ] {
            let failure = #expect(throws: KafkaFailure.self) {
                try admin.waitUntilVisible([topic: 4], within: .zero)
            }
            #expect(
                failure?.detail.hasPrefix("Gave up after 0 s: the broker should show \(topic) with 4 partitions")
                    == true)
            #expect(failure?.detail.contains(shown) == true, "\(failure?.detail ?? "")")
        }
    }

    @Test(.enabled(if: Broker.external != nil, "needs a real broker (NEWSWIRE_TEST_BROKERS)"))
    func `a topic is created with its settings, widened and shown`() throws {
        let broker = try Broker()
        let admin = try KafkaAdmin(settings: broker.settings)
        let topic = broker.topic("made")
        let values = ["cleanup.policy": "delete", "retention.ms": "86400000"]
        let existing = try (0..<2).map { _ in
            try admin.create([.init(name: topic, partitions: 3, configuration: values)])
        }
        #expect(existing == [[], [topic]])
        try admin.waitUntilVisible([topic: 3])
        let state = try #require(try admin.states(of: [topic])[topic])
        #expect(state.partitions == 3)
        for (name, value) in values { #expect(state.configuration[name] == value) }
        #expect(state.configuration["max.message.bytes"] != nil)
        for _ in 0..<2 { try admin.createPartitions([topic: 5]) }
        try admin.waitUntilVisible([topic: 5])
        #expect(try admin.partitionCounts(of: [topic]) == [topic: 5])
        try admin.createPartitions([topic: 2])
        #expect(throws: KafkaFailure.self) { try admin.createPartitions([broker.topic("absent"): 2]) }
    }
}
