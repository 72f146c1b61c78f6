import Foundation
import HubServer
import KafkaIO
import NewswireCommands
import Testing

/// Held events, and the commands that hold and show them.
struct HeldCommandTests {
    private static let topics = [
        ("news.events", 2), ("news.results", 2), ("news.dead-letters", 2), ("news.control", 1), ("news.audit", 1),
        ("news.held", 2),
    ]
    private static let headline = "Chancellor resigns"

    private struct Held: Decodable, Equatable {
        var eventId: String
        var story: String
        var due: String
        var because: String
        var categories: [String]
        var language: String?
        var lane: String
        var run: String?
    }

    @Test func `a scheduled send waits on the held topic, and its text is not shown`() async throws {
        let room = try await ProgramRoom(topics: Self.topics)
        let empty = try await room.run("held", "--json")
        #expect((empty.status, empty.output) == (0, ""), "\(empty.errors)")
        let sent = try await room.run(
            "send", "--category", "World", "--message", Self.headline, "--at", "2100-01-01T06:00+01:00")
        #expect(sent.status == 0, "\(sent.errors)")
        let published = try await room.run("run", "--until-caught-up")
        #expect(published.status == 0, "\(published.errors)")
        let json = try await room.run("held", "--json")
        let held = try JSONDecoder().decode(Held.self, from: Data(json.output.utf8))
        #expect((held.due, held.because) == ("2100-01-01T05:00:00.000Z", "embargo"))
        #expect((held.categories, held.lane, held.run) == (["World"], "live", nil))
        #expect(try await room.run("held", "--story", "another").output.split(separator: "\n").count == 1)
        #expect(sent.output.contains(held.eventId))
        let table = try await room.run("held")
        #expect(table.output.contains(held.story) && table.output.contains("2100-01-01 05:00:00"))
        #expect(table.output.contains("World"))
        let results = try await room.run("results", "--json")
        #expect(results.output.contains(#""outcome":"held""#))
        let audit = try await room.run("audit", "--json")
        #expect(audit.output.contains(#""scope":"send/\#(held.eventId)","do":"send""#), "\(audit.output)")
        let auditTable = try await room.run("audit")
        #expect(auditTable.output.contains("scheduled, without its text"), "\(auditTable.output)")
        for ended in [sent, published, json, table, results, audit, auditTable] {
            #expect(!(ended.output + ended.errors).contains(Self.headline))
        }
        #expect(room.hub.receivedCount == 0)
        await room.close()
    }

    @Test func `a recalled story is held no longer`() async throws {
        let room = try await ProgramRoom(topics: Self.topics)
        let running = try room.start("run")
        try await running.wrote("partitions assigned")
        _ = try await room.run(
            "publish", "-", "--run", "archive-7",
            input:
                #"{"id":"1","story":"S","headline":"h","category":"World","embargoUntil":"2100-01-01T00:00:00Z"}"#)
        while try await !room.run("results", "--json").output.contains(#""outcome":"held""#) {}
        let row = try await room.run("held").output.split(separator: "\n").last ?? ""
        #expect(row.contains("World") && row.contains("live") && row.contains("archive-7"), "\(row)")
        let recalled = try await room.run("recall", "S", "--reason", "wrong")
        #expect(recalled.output.contains("; 1 was held\n"), "\(recalled.output)\(recalled.errors)")
        while try await !room.run("results", "--json").output.contains(#""outcome":"canceled""#) {}
        running.terminate()
        #expect(try await running.ended().status == 0)
        #expect(try await room.run("held", "--json").output == "")
        #expect(room.hub.receivedCount == 0)
        await room.close()
    }

    @Test func `languages and single readers of a story are held under its name and recalled with it`() async throws {
        let room = try await ProgramRoom(topics: Self.topics)
        let settings = try String(contentsOfFile: room.path("newswire.yaml"), encoding: .utf8)
        try room.write(
            settings + "\nlocalization: {mode: tags, languages: {en: English, fr: French}, fallback: [en]}\n",
            to: "newswire.yaml")
        let running = try room.start("run")
        try await running.wrote("partitions assigned")
        let events = [
            ("1", "w", #""language":"en""#), ("2", "w", #""language":"fr""#),
            ("3", "w", #""language":"fr","users":["anna"]"#), ("4", "w#fr", #""language":"en""#),
        ]
        let lines = events.map { id, story, more in
            #"{"id":"\#(id)","story":"\#(story)","headline":"h","category":"World",\#(more),"#
                + #""embargoUntil":"2100-01-01T00:00:00Z"}"#
        }
        _ = try await room.run("publish", "-", input: lines.joined(separator: "\n"))
        func held(_ story: String) async throws -> [Held] {
            try await room.run("held", "--json", "--story", story).output.split(separator: "\n").map {
                try JSONDecoder().decode(Held.self, from: Data($0.utf8))
            }
        }
        var ofStory: [Held] = []
        while ofStory.count < 3 { ofStory = try await held("w") }
        #expect(Set(ofStory.map { "\($0.eventId) \($0.language ?? "")" }) == ["1 en", "2 fr", "3 fr"])
        while try await held("w#fr").map(\.eventId) != ["4"] {}
        let recalled = try await room.run("recall", "w", "--reason", "wrong")
        #expect(recalled.output.contains("; 3 were held\n"), "\(recalled.output)\(recalled.errors)")
        while try await !held("w").isEmpty {}
        #expect(try await held("w#fr").map(\.eventId) == ["4"])
        running.terminate()
        #expect(try await running.ended().status == 0)
        #expect(room.hub.receivedCount == 0)
        await room.close()
    }

    @Test func `a scheduled send warns that the held topic is missing`() async throws {
        let room = try await ProgramRoom()
        let sent = try await room.run("send", "--category", "World", "--message", "m", "--at", "2100-01-01T06:00Z")
        #expect(sent.status == 0)
        #expect(sent.errors.contains("warning: topic news.held does not exist"), "\(sent.errors)")
        #expect(sent.errors.contains("newswire topics --create"))
        await room.close()
    }

    @Test(arguments: [
        ("yesterday", "write a time such as"), ("9999-12-31T23:59Z", "2262 is the last year"),
        ("2026-11-22T18:00", "says no zone"),
        ("2020-01-01T06:00Z", "lies in the past"),
    ])
    func `an invalid or past time is refused with the reason`(time: String, reason: String) async throws {
        let ended = try await Program.run([
            "send", "--config", "x", "--category", "World", "--message", "m", "--at", time,
        ])
        #expect(ended.status == 64)
        #expect(ended.errors.contains(reason), "\(ended.errors)")
    }

    @Test func `without a held topic the command says how to make one`() async throws {
        let room = try await ProgramRoom()
        let ended = try await room.run("held")
        #expect(ended.status == 1)
        #expect(ended.errors.contains("topics --create"), "\(ended.errors)")
        await room.close()
    }
}
