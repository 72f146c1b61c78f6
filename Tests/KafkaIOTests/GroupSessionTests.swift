import Testing

@testable import KafkaIO

struct GroupSessionTests {
    @Test func `a member outlives the sudden end of its coordinator`() throws {
        let timeout = try #require(Int(LaneConsumer.sessionTimeout))
        // Brokers miss a dead one after `broker.session.timeout.ms`, 9 s by default. The member's last heartbeat may be 2.5 s older,
        // and the coordinator that takes over must load the group first.
        #expect(timeout >= 9_000 + 2_500 + 5_000)
    }
}
