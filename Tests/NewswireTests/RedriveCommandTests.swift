import HubServer
import KafkaIO
import KafkaModel
import NewsModel
import TestSupport
import Testing

struct RedriveCommandTests {
    @Test func `a dead letter that was put back under the group's former name is not put back again`() async throws {
        let topics = [("news.events", 2), ("news.dead-letters", 2), ("news.control", 1), ("news.audit", 1)]
        let room = try await ProgramRoom(topics: topics)
        let publisher = try RecordPublisher(settings: room.broker.settings(group: "test"))
        for offset in 0..<2 {
            try publisher.publish(
                ProducedRecord(
                    topic: "news.dead-letters", partition: 1, key: nil, value: Array("{}".utf8),
                    headers: [
                        RecordHeader(HeaderName.source, "news.events/1/\(offset)/template"),
                        RecordHeader(HeaderName.outcome, "exhausted"), RecordHeader(HeaderName.group, "old"),
                    ]))
        }
        try publisher.flush()
        let old = try await Program.run(
            ["redrive", "--limit", "1", "--config", room.path("newswire.yaml")],
            environment: room.environment.merging(["NEWSWIRE_KAFKA_GROUP": "old"]) { $1 })
        #expect(old.output.hasSuffix("put back 1 dead letter\n"), "\(old.output) \(old.errors)")
        for rest in ["put back 1 dead letter, skipped 1 put back", "put back 0 dead letters"] {
            let ended = try await room.run("redrive", "--former-group", "old")
            #expect(ended.output.contains(rest), "\(ended.output) \(ended.errors)")
        }
        await room.close()
    }

    @Test func `a returned dead letter is delivered once, and a second run returns nothing`() async throws {
        let wide = ["events", "results", "dead-letters"].map { ("news.\($0)", 2) }
        let room = try await ProgramRoom(topics: wide + [("news.control", 1), ("news.audit", 1)])
        let publisher = try RecordPublisher(settings: room.broker.settings(group: "test"))
        for (key, category) in [("a", "Gardening"), ("b", "World"), ("c", "Gardening")] {
            try publisher.publish(
                ProducedRecord(
                    topic: "news.events", partition: 1, key: Array(key.utf8),
                    value: Array(#"{"id":"\#(key)","headline":"H","category":"\#(category)"}"#.utf8)))
        }
        try publisher.flush()
        let first = try await room.run("run", "--until-caught-up")
        #expect(first.status == 0, "\(first.errors)")
        #expect(room.hub.receivedCount == 1)

        let dry = try await room.run("redrive", "--dry-run")
        #expect(dry.output.hasSuffix("would put back 2 dead letters\n"), "\(dry.output) \(dry.errors)")
        let other = try await room.run("redrive", "--outcome", "rejected")
        #expect(other.output == "put back 0 dead letters, left 2 excluded by the filters\n", "\(other.errors)")
        let one = try await room.run("redrive", "--limit", "1", "--by", "ops", "--reason", "World is known now")
        #expect(one.output.hasSuffix("put back 1 dead letter\n"), "\(one.output) \(one.errors)")
        let audit = try await room.run("audit", "--json")
        let lines = audit.output.split(separator: "\n").filter { $0.contains(#""do":"redrive""#) }
        #expect(lines.count == 1, "\(audit.output) \(audit.errors)")
        #expect(lines.first?.contains(#""by":"ops","reason":"World is known now""#) == true, "\(audit.output)")
        let unknown = try await room.run("redrive", "--code", "no-category")
        #expect(unknown.output.contains("put back 0 dead letters, left 1 excluded"), "\(unknown.output)")
        // The audit topic takes its record first.
        room.broker.failNext(.produce, .topicAuthorizationFailed, after: 1)
        let refused = try await room.run("redrive")
        #expect(refused.status == 1 && refused.output.isEmpty, "\(refused.output)")
        let rest = try await room.run("redrive")
        #expect(rest.output.contains("put back 1 dead letter"), "\(rest.output) \(rest.errors)")
        let none = try await room.run("redrive", "--json")
        #expect(
            none.output == #"{"putBack":0,"refused":0,"excluded":0,"putBackEarlier":0,"kinds":[]}"# + "\n",
            "\(none.output) \(none.errors)")

        // The newsroom now sends unroutable events as World.
        let routed = room.environment.merging(["NEWSWIRE_UNROUTABLE": "World"]) { $1 }
        let second = try await Program.run(
            ["run", "--until-caught-up", "--config", room.path("newswire.yaml")], environment: routed)
        #expect(second.status == 0, "\(second.errors)")
        #expect(room.hub.receivedCount == 3)
        let again = try await room.run("redrive", "--again", "--dry-run")
        #expect(again.output.hasSuffix("would put back 2 dead letters\n"), "\(again.output) \(again.errors)")
        await room.close()
    }
}
