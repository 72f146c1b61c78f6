import HubServer
import KafkaIO
import NewsModel
import Testing

/// The number of results of each delivery on the results topic.
private func settled(_ broker: EmbeddedBroker) throws -> [SourceCoordinates: Int] {
    let reader = try TopicReader(settings: broker.settings(group: "test"), topic: "news.results")
    var counts: [SourceCoordinates: Int] = [:]
    while !reader.isAtEnd {
        for read in try reader.next() {
            counts[try ResultRecord(decoding: try #require(read.record.value)).coordinates, default: 0] += 1
        }
    }
    return counts
}

@Test func `a publisher stopped in the middle and started again loses nothing and repeats nothing`() async throws {
    let events = 1500
    let room = try await ProgramRoom()
    let lines = (1...events).map { "{\"id\":\"\($0)\",\"headline\":\"Headline \($0)\",\"category\":\"World\"}\n" }
    let published = try await room.run(
        "publish", "--lane", "live", "--confirm", "\(events)", "-", input: lines.joined())
    #expect(published.output.hasPrefix("published 1,500 events"))

    // Slow enough to be stopped in the middle.
    let slow = room.environment.merging(["NEWSWIRE_RATE_PER_SECOND": "400", "NEWSWIRE_RATE_BURST": "1"]) { $1 }
    let running = try Program.start(["run", "--config", room.path("newswire.yaml")], environment: slow)
    let follower = try TopicReader(settings: room.broker.settings(group: "test"), topic: "news.results", follow: true)
    var seen = 0
    while seen < events / 5 {
        seen += try follower.next(timeout: .milliseconds(50)).count
        // The hub in this process needs this thread too.
        await Task.yield()
    }
    running.terminate()
    let stopped = try await running.ended()
    #expect(stopped.status == 0, "\(stopped.errors)")
    let first = room.hub.receivedCount
    #expect(first < events)
    #expect(try settled(room.broker).count == first)

    let again = try await room.run("run", "--until-caught-up")
    #expect(again.status == 0, "\(again.errors)")
    #expect(room.hub.receivedCount == events)
    let counts = try settled(room.broker)
    #expect(counts.count == events)
    #expect(counts.values.allSatisfy { $0 == 1 })
    await room.close()
}
