import Foundation
import HubEmulator
import HubServer
import KafkaIO
import Testing

private func configuration(_ more: String) -> String {
    """
    kafka:
      bootstrapServers: ${BROKERS}
      properties: {session.timeout.ms: 6000, fetch.wait.max.ms: 10}
    lanes: {live: {topics: [news.events]}}
    hub: {connectionString: "${HUB}", name: breaking-news}
    http: {listen: off}
    logging: {format: json}
    \(more)
    """
}

@Test func `SIGHUP applies a changed file, refuses a bad one as a whole, and names the settings that need a restart`()
    async throws
{
    let room = try await ProgramRoom()
    try room.write(configuration("payload: {message: \"old {{headline}}\"}\n"), to: "newswire.yaml")
    let running = try Program.start(["run", "--config", room.path("newswire.yaml")], environment: room.environment)
    let line = #"{"id":"1","headline":"One","category":"World"}"#
    _ = try await room.run("publish", "-", input: line)
    let follower = try TopicReader(settings: room.broker.settings(group: "test"), topic: "news.results", follow: true)
    while try follower.next(timeout: .milliseconds(50)).isEmpty {
        // The hub in this process needs this thread too.
        await Task.yield()
    }

    try room.write(configuration("rate: {perSecond: none, burst: 0}\nhubb: 1\n"), to: "newswire.yaml")
    running.signal(SIGHUP)
    let refusal = try await running.wrote("reload refused")
    for problem in ["rate.perSecond", "rate.burst", "hubb"] { #expect(refusal.contains(problem)) }

    try room.write(
        configuration(
            """
            payload: {message: "new {{headline}}"}
            categories: {World: {tag: NewWorld}}
            rate: {perSecond: 700}
            retry: {attempts: 3}
            """), to: "newswire.yaml")
    let changed = try String(contentsOfFile: room.path("newswire.yaml"), encoding: .utf8)
    try room.write(
        changed.replacing("logging: {format: json}", with: "logging: {format: json, level: debug}"),
        to: "newswire.yaml")
    running.signal(SIGHUP)
    let reloaded = try await running.wrote("settings reloaded")
    for key in ["payload.message", "categories.World.tag", "rate.perSecond", "logging.level"] {
        #expect(reloaded.contains(key), "\(reloaded)")
    }
    let waiting = try await running.wrote("wait for a restart")
    #expect(waiting.contains("retry.attempts") && !waiting.contains("payload"))

    _ = try await room.run("publish", "-", input: line.replacing("\"1\"", with: "\"2\""))
    // Debug lines are on now.
    try await running.wrote("delivery settled")
    running.terminate()
    #expect(try await running.ended().status == 0)
    let tags = room.hub.received.map { "\($0.tags ?? "") \(String(decoding: $0.body, as: UTF8.self))" }
    #expect(tags.contains { $0.hasPrefix("World ") && $0.contains("old One") })
    #expect(tags.contains { $0.hasPrefix("NewWorld ") && $0.contains("new One") })
    await room.close()
}
