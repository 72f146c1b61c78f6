import Backfill
import Foundation
import HubServer
import KafkaIO
import KafkaModel
import NewsModel
import NewswireCommands
import NotificationHub
import Testing

/// `newswire runs` and `newswire publish --verify`, with records on the topics.
struct RunsCommandTests {
    private struct Run: Decodable, Equatable {
        var run: String
        var published: Int
        var outcomes: [String: Int]
        var open: Int
        var rate: Double
        var secondsLeft: Int?
        var lastEvent: String?
        var lastAt: String?
    }

    private static let topics = [
        ("news.events", 2), ("news.results", 2), ("news.dead-letters", 2), ("news.control", 1), ("news.audit", 1),
        ("news.held", 2),
    ]

    private func room() async throws -> ProgramRoom { try await ProgramRoom(topics: Self.topics) }

    private func kafka(_ room: ProgramRoom) -> KafkaSettings { room.broker.settings(group: "newswire") }

    private func events(_ ids: some Sequence<Int>, category: String = "World") -> String {
        ids.map { #"{"id":"\#($0)","headline":"h","category":"\#(category)"}"# + "\n" }.joined()
    }

    private func runs(_ room: ProgramRoom, _ options: String...) async throws -> [Run] {
        let ended = try await Program.run(
            ["runs", "--json", "--config", room.path("newswire.yaml")] + options, environment: room.environment)
        #expect(ended.status == 0, "\(ended.errors)")
        return try ended.output.split(separator: "\n").map {
            try JSONDecoder().decode(Run.self, from: Data($0.utf8))
        }
    }

    /// Results as a service would have written them, in this order.
    private func settle(
        _ room: ProgramRoom, _ results: [(id: String, offset: Int64, outcome: Outcome)], partition: Int32 = 0
    ) throws {
        let publisher = try RecordPublisher(settings: kafka(room))
        for (id, offset, outcome) in results {
            let place = ResultRecord.Source(
                partition: TopicPartition(topic: "news.events", partition: partition), offset: offset)
            let result = ResultRecord(
                eventID: id, platform: .template, outcome: outcome, lane: "live", source: place,
                settledAt: Instant(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000)), run: "r")
            var json: [UInt8] = []
            result.encode(into: &json)
            try publisher.publish(
                ProducedRecord(
                    topic: "news.results", partition: partition, key: Array(id.utf8), value: json,
                    headers: [
                        RecordHeader(name: HeaderName.source, value: result.coordinates.headerValue),
                        RecordHeader(HeaderName.outcome, outcome.rawValue), RecordHeader(HeaderName.group, "newswire"),
                    ]))
        }
        try publisher.flush()
    }

    /// Events of a run, all on partition 0.
    private func put(_ room: ProgramRoom, _ ids: [String], run: String? = "r") throws {
        let publisher = try RecordPublisher(settings: kafka(room))
        for id in ids {
            try publisher.publish(
                ProducedRecord(
                    topic: "news.events", partition: 0, key: nil,
                    value: Array(#"{"id":"\#(id)","headline":"h","category":"World"}"#.utf8),
                    headers: run.map { [RecordHeader(HeaderName.run, $0)] } ?? []))
        }
        try publisher.flush()
    }

    @Test func `runs are counted from the topics, and the next command reads only what was added`() async throws {
        let room = try await room()
        let none = try await room.run("runs")
        #expect((none.status, none.output) == (0, "no runs\n"), "\(none.errors)")
        for (run, ids) in [("archive-1", 1...30), ("archive-2", 31...35)] {
            #expect(try await room.run("publish", "--run", run, "-", input: events(ids)).status == 0)
        }
        // News without a run.
        try put(room, ["99"], run: nil)
        let before = try await runs(room)
        #expect(Set(before.map(\.run)) == ["archive-1", "archive-2"])
        #expect(before.allSatisfy { $0.outcomes.isEmpty && $0.open == $0.published && $0.secondsLeft == nil })

        let second = events([36], category: "Cooking") + events([1])
        #expect(try await room.run("publish", "--run", "archive-2", "-", input: second).status == 0)
        #expect(try await room.run("run", "--until-caught-up").status == 0)
        let after = try await runs(room).sorted { $0.run < $1.run }
        #expect(after.map(\.published) == [30, 7])
        #expect(after.map(\.open) == [0, 0] && after.allSatisfy { $0.secondsLeft == 0 && $0.rate > 0 })
        #expect(after.map(\.outcomes) == [["accepted": 30], ["accepted": 5, "unroutable": 1, "duplicate": 1]])
        #expect(after.last.map { ["36", "1", "35", "34", "33", "32", "31"].contains($0.lastEvent) } == true)
        #expect(try await runs(room, "--afresh").sorted { $0.run < $1.run } == after)
        #expect(try await runs(room, "archive-2") == after.suffix(1))

        // The counts are stored beside the offsets up to which they apply.
        let partitions = Self.topics.prefix(2).flatMap { topic, count in
            (0..<Int32(count)).map { TopicPartition(topic: topic, partition: $0) }
        }
        let marks = try GroupOffsets(settings: kafka(room), group: "newswire.runs").read(partitions)
        let admin = try KafkaAdmin(settings: kafka(room))
        for partition in partitions { #expect(try admin.watermarks(partition).upperBound == marks[partition]?.offset) }
        let kept = marks.values.compactMap { RunTable(text: $0.metadata) }
        #expect(kept.reduce(0) { $0 + ($1.runs["archive-1"]?.tally.published ?? 0) } == 30)
        await room.close()
    }

    @Test func `an unknown run is a failure, and so is an option without a run`() async throws {
        let room = try await room()
        for arguments in [["nothing"], ["nothing", "--verify", "--verify-timeout", "1s"]] {
            let ended = try await Program.run(
                ["runs", "--config", room.path("newswire.yaml")] + arguments, environment: room.environment)
            #expect(ended.status == 1)
            #expect(ended.errors.contains("no run nothing"), "\(ended.errors)")
        }
        #expect(try await room.run("runs", "--verify").status == 64)
        #expect(try await room.run("runs", "r", "--verify", "--verify-timeout", "soon").status == 64)
        await room.close()
    }

    @Test func `publish --verify ends with 0 once every event has its result`() async throws {
        let room = try await room()
        let running = try room.start("run")
        try await running.wrote("partitions assigned")
        let ended = try await room.run(
            "publish", "--lane", "live", "--confirm", "500", "--run", "r", "--verify", "-", input: events(1...500))
        #expect(ended.status == 0, "\(ended.output)\(ended.errors)")
        #expect(
            ended.output.contains(
                "run r: 500 events published, 500 deliveries settled: nothing missing, nothing doubled"))
        let later = try await room.run("runs", "r", "--verify", "--json")
        #expect(later.status == 0)
        #expect(try JSONDecoder().decode(Run.self, from: Data(later.output.utf8)).outcomes == ["accepted": 500])
        running.terminate()
        #expect(try await running.ended().status == 0)
        await room.close()
    }

    @Test func `an unverified run is not published again by the same command`() async throws {
        let room = try await room()
        try room.write(events(1...20), to: "e.ndjson")
        for _ in 1...2 {
            let ended = try await room.run(
                "publish", "--run", "r", "--verify", "--verify-timeout", "1s", room.path("e.ndjson"))
            #expect(ended.status == 1, "\(ended.errors)")
            #expect(ended.output.contains("20 deliveries missing"), "\(ended.output)\(ended.errors)")
        }
        #expect(try await runs(room, "r").map(\.published) == [20])
        #expect(try await room.run("run", "--until-caught-up").status == 0)
        #expect(try await room.run("publish", "--run", "r", "--verify", room.path("e.ndjson")).status == 0)
        #expect(room.hub.receivedCount == 20)
        await room.close()
    }

    @Test func `events that the topic no longer has are a failure of publish --verify`() async throws {
        let room = try await ProgramRoom(
            topics: [("news.events", 1), ("news.results", 1), ("news.dead-letters", 1), ("news.control", 1)])
        try room.write(events(1...3) + "bad\n", to: "e.ndjson")
        let first = try await room.run("publish", "--run", "r", room.path("e.ndjson"))
        #expect(first.status == 1 && first.output.hasPrefix("published 3 events"), "\(first.errors)")
        // The embedded broker keeps about 5 MiB. Random bytes cannot be compressed.
        let megabyte = (0..<900_000).map { _ in UInt8.random(in: 0...255) }
        let publisher = try RecordPublisher(settings: kafka(room))
        for _ in 1...8 {
            try publisher.publish(
                ProducedRecord(topic: "news.events", partition: 0, key: nil, value: megabyte))
            try publisher.flush()
        }
        try room.write(events(1...4), to: "e.ndjson")
        let ended = try await room.run(
            "publish", "--run", "r", "--verify", "--verify-timeout", "1s", room.path("e.ndjson"))
        #expect(ended.status == 1 && ended.output.hasPrefix("published 1 event"), "\(ended.errors)")
        #expect(
            ended.output.contains("3 of 4 published events cannot be read on the lanes' topics"), "\(ended.output)")
        await room.close()
    }

    @Test func `missing and doubled deliveries are named, apart from the repeats of a crash`() async throws {
        let room = try await room()
        try put(room, ["a", "b", "c", "b", "d"])
        try settle(room, [("a", 0, .accepted), ("b", 1, .accepted), ("d", 4, .unknown), ("b", 3, .accepted)])
        try settle(room, [("a", 0, .accepted)])
        let ended = try await room.run("runs", "r", "--verify", "--verify-timeout", "1s")
        #expect(ended.status == 1)
        let lines = ended.output.split(separator: "\n").map(String.init)
        #expect(lines.contains("1 delivery missing: without a result"))
        #expect(lines.contains("  c at news.events/0/2/template"))
        #expect(lines.contains { $0.hasPrefix("1 delivery doubled") })
        #expect(
            lines.contains("  b: accepted at news.events/0/1/template, accepted at news.events/0/3/template"))
        #expect(lines.contains { $0.hasPrefix("1 delivery repeated within what a crash allows") })
        #expect(lines.contains("  a at news.events/0/0/template"))
        let found = try await room.run("runs", "r", "--verify", "--verify-timeout", "1s", "--json")
        #expect(found.status == 1)
        #expect(
            found.output.hasSuffix(
                #""sound":false,"missing":{"count":1,"names":["c at news.events/0/2/template"]},"held":{"count":0,"names":[]},"doubled":{"count":1,"names":["b: accepted at news.events/0/1/template, accepted at news.events/0/3/template"]},"repeated":{"count":1,"names":["a at news.events/0/0/template"]},"unexplained":{"count":0,"names":[]}}"#
                    + "\n"), "\(found.output)")

        // The copy of b cannot be taken back; the repeat alone is no failure.
        let other = try await self.room()
        try put(other, ["a", "a"])
        try settle(other, [("a", 0, .accepted), ("a", 0, .accepted), ("a", 1, .duplicate)])
        let allowed = try await other.run("runs", "r", "--verify", "--verify-timeout", "1s")
        #expect(allowed.status == 0, "\(allowed.output)")
        #expect(allowed.output.contains("1 delivery settled as duplicate"))
        await other.close()
        await room.close()
    }

    @Test func `a run with each result three times and no crash is not sound`() async throws {
        let room = try await room()
        try room.write(events(1...100), to: "e.ndjson")
        let published = try await room.run(
            "publish", "--lane", "live", "--confirm", "100", "--run", "r", room.path("e.ndjson"))
        #expect(published.status == 0, "\(published.errors)")
        #expect(try await room.run("run", "--until-caught-up").status == 0)
        let sound = try await room.run("runs", "r", "--verify", "--json")
        #expect(sound.status == 0, "\(sound.output)\(sound.errors)")
        // Writes the same records again, without changes.
        let reader = try TopicReader(settings: kafka(room), topic: "news.results")
        let publisher = try RecordPublisher(settings: kafka(room))
        var count = 0
        while !reader.isAtEnd {
            for read in try reader.next() {
                count += 1
                for _ in 1...2 {
                    try publisher.publish(
                        ProducedRecord(
                            topic: "news.results", partition: read.partition.partition, key: read.record.key,
                            value: read.record.value, headers: read.record.headers))
                }
            }
        }
        try publisher.flush()
        #expect(count == 100)
        let ended = try await room.run("runs", "r", "--verify", "--json")
        #expect(ended.status == 1)
        #expect(
            ended.output.contains(#""repeated":{"count":0,"names":[]},"unexplained":{"count":200,"#), "\(ended.output)")
        await room.close()
    }

    @Test func `the follower names the order that stops a run, and reports when the run continues`() async throws {
        let room = try await room()
        let running = try room.start("run")
        try await running.wrote("partitions assigned")
        let stopped = try await room.run("stop", "run:r", "--reason", "wrong archive")
        #expect(stopped.status == 0, "\(stopped.errors)")
        try room.write(events(1...20), to: "e.ndjson")
        let following = try room.start(
            "publish", "--run", "r", "--verify", "--verify-timeout", "60s", room.path("e.ndjson"))
        let line = try await following.wrote("stands still")
        #expect(line.hasPrefix("run r stands still: "), "\(line)")
        #expect(line.contains("stopped run r at") && line.contains(": wrong archive"), "\(line)")
        #expect(line.hasSuffix("newswire resume --config FILE run:r"))
        #expect(room.hub.receivedCount == 0)
        #expect(try await runs(room, "r").map(\.open) == [20])
        let resumed = try await room.run("resume", "run:r")
        #expect(resumed.status == 0, "\(resumed.errors)")
        let ended = try await following.ended()
        #expect(ended.status == 0, "\(ended.output)\(ended.errors)")
        #expect(ended.errors.contains("run r continues"))
        #expect(room.hub.receivedCount == 20)
        running.terminate()
        #expect(try await running.ended().status == 0)
        await room.close()
    }
}
