import HubIO
import HubModel
import NewsModel
import PublishEngine
import PublisherService
import TestSupport
import Testing

struct ShardTests {
    @Test func `the shard of a topic's only partition has all connections`() async throws {
        let newsroom = try await Newsroom(partitions: 1)
        // Each shard begins with two connections.
        let publisher = try newsroom.publisher(
            try newsroom.settings {
                $0.shards = 4
                $0.engine.connections = 8
                $0.limits.connections = 8
            })
        let (results, settled) = AsyncStream<Void>.makeStream()
        publisher.metrics.onResult { _ in settled.yield() }
        var arrived = results.makeAsyncIterator()
        let run = Task { try await publisher.run() }
        var number = 0
        while publisher.metrics.status.wire.connections < 8 {
            let events = (0..<500).map { NewsEvent(id: "\(number + $0)", headline: "Headline", categories: ["World"]) }
            try newsroom.topics.publish(events)
            number += events.count
            for _ in events { await arrived.next() }
        }
        publisher.drain()
        try await run.value
        #expect(publisher.metrics.status.wire.connections <= 8)
        await newsroom.close()
    }
}
