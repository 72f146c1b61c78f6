import Backfill
import ByteText
import Foundation
import KafkaIO
import NewsModel
import NewswireCommands
import Testing

/// `newswire publish` on a lane below the first.
struct BackfillCommandTests {
    private func room(_ more: String = "payload: {templates: {normal: breakingNews, quiet: breakingNewsQuiet}}")
        async throws
        -> ProgramRoom
    {
        let room = try await ProgramRoom(
            topics: [
                ("news.events", 2), ("news.backfill", 2), ("news.results", 2), ("news.dead-letters", 2),
                ("news.control", 1), ("news.audit", 1), ("news.held", 2),
            ])
        try room.write(
            """
            kafka:
              bootstrapServers: ${BROKERS}
              properties: {session.timeout.ms: 6000, fetch.wait.max.ms: 10}
            lanes: {live: {topics: [news.events]}, backfill: {topics: [news.backfill], floor: 10%}}
            hub: {connectionString: "${HUB}", name: breaking-news}
            rate: {perSecond: 1000}
            http: {listen: off}
            \(more)

            """, to: "newswire.yaml")
        return room
    }

    private func headers(_ room: ProgramRoom, topic: String = "news.backfill") throws -> [[String: String]] {
        let reader = try TopicReader(settings: room.broker.settings(group: "g"), topic: topic)
        var headers: [[String: String]] = []
        while !reader.isAtEnd {
            headers += try reader.next().map { read in
                Dictionary(read.record.headers.map { ($0.name, $0.text ?? "") }) { $1 }
            }
        }
        return headers
    }

    private func events(_ count: Int) -> String {
        (1...count).map { "{\"id\":\"\($0)\",\"headline\":\"h\",\"category\":\"World\"}\n" }.joined()
    }

    @Test func `a backfill is silent, and every record carries its run`() async throws {
        let room = try await room()
        try room.write(events(200), to: "e.ndjson")
        let named = try await room.run("publish", "--run", "sunday-1", room.path("e.ndjson"))
        #expect(named.status == 0, "\(named.errors)")
        #expect(named.output.hasSuffix(", as run sunday-1\n"))
        #expect(
            try headers(room) == [[String: String]](repeating: ["nw-run": "sunday-1", "nw-quiet": "true"], count: 200))
        let unnamed = try await room.run("publish", "-", input: events(1))
        let id = try #require(unnamed.output.firstMatch(of: /as run ([0-9]{8}-[0-9]{6}-[0-9a-f]{8})\n/)).output.1
        #expect(try headers(room).contains { $0["nw-run"] == String(id) })
        await room.close()
    }

    @Test func `a backfill without a silent form rings only with the exact number of events`() async throws {
        let room = try await room("")
        try room.write(events(3), to: "e.ndjson")
        let refused = try await room.run("publish", room.path("e.ndjson"))
        #expect(refused.status == 1)
        #expect(refused.errors.hasPrefix("error: nothing was published: these devices would ring: in template mode"))
        for confirm in [[], ["--confirm", "2"]] {
            let wrong = try await Program.run(
                ["publish", "--config", room.path("newswire.yaml"), "--ring", room.path("e.ndjson")] + confirm,
                environment: room.environment)
            #expect(wrong.status == 1)
            #expect(wrong.errors.contains("nothing was published: 3 events"), "\(wrong.errors)")
        }
        let input = try await room.run("publish", "--ring", "--confirm", "3", "-", input: events(3))
        #expect(input.status == 64)
        #expect(try headers(room).isEmpty)
        let ringing = try await room.run("publish", "--ring", "--confirm", "3", room.path("e.ndjson"))
        #expect(ringing.status == 0, "\(ringing.errors)")
        #expect(try headers(room).map { $0["nw-quiet"] } == [nil, nil, nil])
        await room.close()
    }

    @Test func `an archive on the first lane is refused unless the lane and the number are typed`() async throws {
        let room = try await room()
        try room.write(events(101), to: "e.ndjson")
        let refused = try await room.run("publish", "--lane", "live", room.path("e.ndjson"))
        #expect(refused.status == 1)
        #expect(refused.errors.contains("101 events are no backfill for the most urgent lane"), "\(refused.errors)")
        let input = try await room.run("publish", "--lane", "live", "-", input: events(101))
        #expect(input.status == 1)
        #expect(input.errors.contains("standard input:101: only 100 events are allowed"), "\(input.errors)")
        let confirmed = try await room.run("publish", "--lane", "live", "--confirm", "101", room.path("e.ndjson"))
        #expect(confirmed.status == 0, "\(confirmed.errors)")
        let stored = try headers(room, topic: "news.events")
        #expect(stored.count == 201)
        #expect(stored.allSatisfy { $0["nw-quiet"] == nil && $0["nw-run"] != nil })
        await room.close()
    }

    @Test func `a command that continues stays in its run, and another run is refused`() async throws {
        let room = try await room()
        try room.write(events(3) + "bad\n", to: "e.ndjson")
        let first = try await room.run("publish", "--run", "a", room.path("e.ndjson"))
        #expect(first.status == 1)
        let other = try await room.run("publish", "--run", "b", room.path("e.ndjson"))
        #expect(other.status == 1)
        #expect(other.errors.contains("was partly published as run a, and not b"), "\(other.errors)")
        try room.write(events(4), to: "e.ndjson")
        try room.write(events(1), to: "f.ndjson")
        let again = try await room.run("publish", room.path("e.ndjson"), room.path("f.ndjson"))
        #expect(again.status == 0, "\(again.errors)")
        #expect(again.output.hasSuffix(", as run a\n"))
        #expect(try headers(room).map { $0["nw-run"] } == [String?](repeating: "a", count: 5))
        await room.close()
    }

    @Test func `a command killed before it recorded an event is continued in its run, and nothing is written twice`()
        async throws
    {
        let room = try await room()
        try room.write(events(3), to: "e.ndjson")
        let former = try await room.run("publish", "--run", "former", "-", input: events(3))
        #expect(former.status == 0, "\(former.errors)")
        let begin: Int64 = 1_700_000_000_000
        var progress = PublishProgress(topic: "news.backfill", run: RunID("former"), begunAt: begin, bounds: "")
        progress.coveredUntil = begin
        try ProgressFile(for: room.path("e.ndjson")).save(progress)
        let again = try await room.run("publish", room.path("e.ndjson"))
        #expect(again.status == 0, "\(again.errors)")
        #expect(again.output.hasPrefix("published 0 events") && again.output.hasSuffix(", as run former\n"))
        #expect(try headers(room).count == 3)
        await room.close()
    }

    /// Publishes the events of e.ndjson, `bad` of which are bad, and sends them.
    private func sendAll(_ room: ProgramRoom, bad: Int = 0) async throws -> (
        results: [ResultRecord], outcomes: [Outcome: Int]
    ) {
        let published = try await room.run("publish", "--max-bad", String(bad), "--run", "r", room.path("e.ndjson"))
        #expect(published.status == 0, "\(published.errors)")
        let ran = try await room.run("run", "--until-caught-up")
        #expect(ran.status == 0, "\(ran.errors)")
        let results = try await room.run("results", "--json").output.split(separator: "\n").map {
            try ResultRecord(decoding: Array($0.utf8))
        }
        return (results, Dictionary(results.map { ($0.outcome, 1) }) { $0 + $1 })
    }

    @Test func `a dry run needs no broker, and its counts equal the results of the real run`() async throws {
        let room = try await room()
        let lines = [
            events(20), events(2), "bad\n", "{\"id\":\"x\",\"headline\":\"h\",\"category\":\"Gossip\"}\n",
            "{\"id\":\"y\",\"headline\":\"h\",\"category\":\"Sports\",\"expiresAt\":\"2020-01-01T00:00:00Z\"}\n",
            "{\"id\":\"z\",\"headline\":\"h\",\"category\":\"Sports\",\"status\":\"withheld\"}\n",
            "{\"id\":\"s\",\"headline\":\"h\",\"category\":\"Sports\"}\n",
            "{\"id\":\"e\",\"headline\":\"h\",\"category\":\"Sports\",\"embargoUntil\":\"2999-01-01T00:00:00Z\"}\n",
        ]
        try room.write(lines.joined(), to: "e.ndjson")
        let arguments = [
            "publish", "--config", room.path("newswire.yaml"), "--dry-run", "--audience", "World=1000", "--audience",
            "sports=10",
        ]
        var environment = room.environment
        environment["BROKERS"] = "127.0.0.1:1"
        let dry = try await Program.run(
            arguments + ["--partitions", "3", "--json", room.path("e.ndjson")], environment: environment)
        #expect(dry.status == 0, "\(dry.errors)")
        #expect(!dry.errors.contains("counted as if"))
        #expect(
            dry.output
                == #"{"events":27,"bad":1,"duplicates":2,"unroutable":1,"expired":1,"categories":{"World":20,"Sports":2},"seconds":1,"pushes":20020,"cost":0.0,"accepted":21,"held":1,"withheld":1,"superseded":0,"canceled":0,"expiredWaiting":0,"mayBeOvertaken":0,"repeats":0,"tests":0,"personal":0,"skipped":0,"partitions":3}"#
                + "\n")
        let text = try await Program.run(arguments + [room.path("e.ndjson")], environment: environment)
        #expect(
            text.output.contains("27 events\n")
                && text.output.contains("ServiceBusNotification-Tags: World && breakingNewsQuiet"))
        #expect(text.errors.contains("e.ndjson:23: "))
        #expect(text.errors.contains("counted as if news.backfill had 12 partitions"), "\(text.errors)")
        let asked = try await Program.run(arguments + ["--json", room.path("e.ndjson")], environment: room.environment)
        #expect(asked.output.hasSuffix(#""partitions":2}"# + "\n"), "\(asked.output)\(asked.errors)")

        let (results, outcomes) = try await sendAll(room, bad: 1)
        #expect(
            outcomes == [.accepted: 21, .duplicate: 2, .unroutable: 1, .expired: 1, .withheld: 1, .held: 1])
        #expect(results.allSatisfy { $0.run == "r" })
        #expect(results.allSatisfy { $0.isQuiet == ($0.outcome == .accepted) })
        await room.close()
    }

    @Test func `versions and recalls change no more outcomes than the dry run predicted`() async throws {
        let room = try await room()
        var chance = SeededRandom(seed: 18)
        let lines = (1...400).map { number in
            let story = Int.random(in: 1...40, using: &chance)
            let version = Int.random(in: 1...20, using: &chance)
            let status = Int.random(in: 1...40, using: &chance) == 1 ? "canceled" : "usable"
            return
                #"{"id":"\#(story)-\#(version)","headline":"h","category":"World","story":"\#(story)","version":\#(version),"status":"\#(status)"}"#
                + "\n"
        }
        try room.write(lines.joined(), to: "e.ndjson")
        let dry = try await room.run("publish", "--dry-run", "--json", room.path("e.ndjson"))
        let said = try #require(JSONSerialization.jsonObject(with: Data(dry.output.utf8)) as? [String: Any])
        func count(_ name: String) throws -> Int { try #require(said[name] as? Int, "\(name)") }
        let mayBeOvertaken = try count("mayBeOvertaken")
        #expect(mayBeOvertaken > 20)

        let (results, outcomes) = try await sendAll(room)
        let settled = (outcomes[.accepted] ?? 0) + (outcomes[.duplicate] ?? 0)
        #expect(try (0...mayBeOvertaken).contains(count("accepted") + count("duplicates") - settled), "\(outcomes)")
        #expect(results.count == 400)
        await room.close()
    }

    @Test(arguments: [
        ["--between", "01:00-05:00"], ["--zone", "UTC"], ["--between", "1-5", "--zone", "UTC"],
        ["--between", "01:00-05:00", "--zone", "Mars"], ["--max-age", "5"], ["--max-events", "0"], ["--run", "a b"],
        ["--json"], ["--audience", "World=1"], ["--partitions", "3"], ["--dry-run", "--partitions", "0"],
        ["--dry-run", "--audience", "World"],
        ["--dry-run", "--audience", "World=-1"],
        ["--confirm", "-1"],
    ])
    func `contradictory or invalid options are wrong usage`(options: [String]) async throws {
        let ended = try await Program.run(["publish", "--config", "x"] + options + ["e.ndjson"])
        #expect(ended.status == 64, "\(ended.errors)")
    }

    @Test func `an audience of an unknown category names the known ones`() async throws {
        let room = try await room()
        let ended = try await room.run("publish", "--dry-run", "--audience", "Wrold=1", "-", input: events(1))
        #expect(ended.status == 64)
        #expect(ended.errors.contains("Did you mean World?"))
        await room.close()
    }
}
