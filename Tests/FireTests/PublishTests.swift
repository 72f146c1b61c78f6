import Foundation
import KafkaIO
import KafkaModel
import NewsModel
import TestSupport
import Testing

@Suite(.ownThread)
struct PublishTests {
    @Test(.enabled(if: isUnderFire, "\(underFireHint)"), .timeLimit(.minutes(5)))
    func `an interrupted publish behind a frozen broker ends in time, and repeats only what it reports`() async throws {
        let events = 20_000
        let room = try await FireRoom(partitions: 2, "lanes: {live: {topics: [news.events]}}")
        let path = room.folder.appending(path: "e.ndjson")
        let lines = (1...events).map { "{\"id\":\"\($0)\",\"headline\":\"h\"}\n" }
        try Data(lines.joined().utf8).write(to: path)
        let command = [
            "publish", "--config", room.configuration.path, "--lane", "live", "--confirm", "\(events)", path.path,
        ]
        let admin = try KafkaAdmin(settings: room.kafka)
        func stored() throws -> Int {
            try (0..<2 as Range<Int32>).reduce(0) {
                try $0 + admin.watermarks(TopicPartition(topic: "news.events", partition: $1)).count
            }
        }

        let frozen = try ChildProcess("newswire", command + ["--rate", "5000"], in: room.folder)
        while try stored() < events / 10, frozen.isRunning { moment() }
        room.signalBroker(SIGSTOP)
        // The message shows that events are in flight.
        while !frozen.output.contains("waiting for the broker to acknowledge"), frozen.isRunning { moment() }
        // The broker stays frozen until the command has ended.
        frozen.signal(SIGINT)
        #expect(frozen.wait() == 1, "\(frozen.output)")
        room.signalBroker(SIGCONT)
        let told = try #require(
            frozen.output.split(separator: "\n").first { $0.contains("the broker did not answer for") })
        let unknown = try #require(told.split(separator: " ").compactMap { Int($0.filter { $0 != "," }) }.first)

        let again = try ChildProcess("newswire", command, in: room.folder)
        #expect(again.wait() == 0, "\(again.output)")
        print("publish test: \(unknown) events unanswered, \(try stored() - events) repeated")
        #expect((events...events + unknown).contains(try stored()))
        await room.close()
    }
}
