import HubIO
import NewsModel
import PublishEngine
import PublisherService
import TestSupport
import Testing

struct ShardTests {
    @Test func `a topic of one partition has all connections, however many shards there are`() async throws {
        let newsroom = try await Newsroom(partitions: 1)
        // Two connections each, until it is known who has the partition.
        let publisher = try newsroom.publisher(
            try newsroom.settings {
                $0.shards = 4
                $0.engine.connections = 8
                $0.limits.connections = 8
            })
        let (results, settled) = AsyncStream<Void>.makeStream()
        publisher.telemetry.onResult { _ in settled.yield() }
        var arrived = results.makeAsyncIterator()
        let run = Task { try await publisher.run() }
        var number = 0
        while publisher.telemetry.status.openConnections < 8 {
            let events = (0..<500).map { NewsEvent(id: "\(number + $0)", headline: "Headline", categories: ["World"]) }
            try newsroom.topics.publish(events)
            number += events.count
            for _ in events { await arrived.next() }
        }
        publisher.drain()
        try await run.value
        #expect(publisher.telemetry.status.openConnections <= 8)
        await newsroom.close()
    }
}
