import Foundation
import HubServer
import KafkaIO
import KafkaModel
import NewsModel
import TestSupport
import Testing

/// Kills a backfill's `publish` and its publisher repeatedly, and then verifies the backfill.
@Suite(.serialized, .ownThread)
struct BackfillKillTests {
    @Test(.enabled(if: isUnderFire, "\(underFireHint)"), .timeLimit(.minutes(5)))
    func `a backfill killed at both ends is complete, and repeats only what a crash permits`()
        async throws
    {
        let events = scale("NEWSWIRE_FIRE_BACKFILL", 12_000)
        let kills = 5
        let room = try await FireRoom(
            partitions: 4, topics: ["news.events", "news.backfill"],
            "lanes: {live: {topics: [news.events]}, backfill: {topics: [news.backfill]}}\nrate: {perSecond: unlimited}")
        let path = room.folder.appending(path: "archive.ndjson")
        let lines = (1...events).map { #"{"id":"\#($0)","headline":"Headline \#($0).","category":"World"}"# + "\n" }
        try Data(lines.joined().utf8).write(to: path)
        let admin = try KafkaAdmin(settings: room.kafka)
        func stored(_ topic: String) throws -> Int {
            try (0..<4 as Range<Int32>).reduce(0) {
                try $0 + admin.watermarks(TopicPartition(topic: topic, partition: $1)).count
            }
        }
        func publish(_ arguments: String...) throws -> ChildProcess {
            try ChildProcess(
                "newswire",
                [
                    "publish", "--config", room.configuration.path, "--run", "archive", "--ring", "--confirm",
                    "\(events)",
                    path.path,
                ] + arguments,
                in: room.folder)
        }

        // Progress is measured by the broker's acknowledgements, not by time.
        for kill in 1...kills {
            let publishing = try publish("--rate", "4000")
            while try stored("news.backfill") < kill * events / (kills + 2), publishing.isRunning { moment() }
            publishing.signal(SIGKILL)
            publishing.wait()
        }
        let finishing = try publish("--verify", "--verify-timeout", "60s")
        for kill in 1...kills {
            let running = try room.run()
            while room.hub.receivedCount < kill * events / (kills + 2), running.isRunning { moment() }
            running.signal(SIGKILL)
            running.wait()
        }
        let running = try room.run()
        #expect(finishing.wait() == 0, "\(finishing.output)")
        #expect(finishing.output.contains("nothing missing, nothing doubled"), "\(finishing.output)")
        running.signal(SIGTERM)
        #expect(running.wait() == 0, "\(running.output.suffix(2000))")

        // The report must agree with the topics and the hub.
        let records = try stored("news.backfill")
        let results = try room.results()
        #expect(records >= events)
        #expect(Set(results.map(\.coordinates)).count == records)
        let accepted = Dictionary(grouping: results.filter { $0.outcome == .accepted }) { $0.eventID }
        #expect(accepted.count == events)
        #expect(accepted.values.allSatisfy { Set($0.map(\.coordinates)).count == 1 })
        #expect(results.count { $0.outcome == .duplicate } == records - events)
        let repeats = room.hub.receivedCount - events
        print("backfill kill test: \(records - events) events published again, \(repeats) requests repeated")
        let later = try room.command("runs", "archive", "--verify", "--verify-timeout", "10s")
        #expect(later.wait() == 0, "\(later.output)")

        // One more event, which no process delivers.
        let publisher = try RecordPublisher(settings: room.kafka)
        try publisher.publish(
            ProducedRecord(
                topic: "news.backfill", partition: 0, key: nil, value: Array(#"{"id":"late","headline":"h"}"#.utf8),
                headers: [RecordHeader(HeaderName.run, "archive")]))
        try publisher.flush()
        let lost = try room.command("runs", "archive", "--verify", "--verify-timeout", "1s")
        #expect(lost.wait() == 1)
        #expect(lost.output.contains("1 delivery missing") && lost.output.contains("  late at "), "\(lost.output)")
        await room.close()
    }
}
