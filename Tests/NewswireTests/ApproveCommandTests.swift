import EditorialControl
import Foundation
import HubServer
import Testing

/// `newswire approve`, and the commands that propose.
struct ApproveCommandTests {
    /// - Parameter missing: a topic that does not exist.
    private func room(missing: String? = nil) async throws -> ProgramRoom {
        let topics = [
            ("news.events", 2), ("news.results", 2), ("news.dead-letters", 2), ("news.control", 1), ("news.audit", 1),
            ("news.held", 2),
        ]
        let room = try await ProgramRoom(topics: topics.filter { $0.0 != missing })
        let former = try String(contentsOfFile: room.path("newswire.yaml"), encoding: .utf8)
        try room.write(
            former + "\ncontrol: {approval: {send: true, replace: true, resumeHub: true}}\n", to: "newswire.yaml")
        return room
    }

    /// Runs a command that proposes.
    ///
    /// - Returns: the id of the proposal, which is the last line of the output.
    private func propose(_ room: ProgramRoom, _ arguments: String...) async throws -> String {
        let all = arguments.prefix(1) + ["--config", room.path("newswire.yaml")] + arguments.dropFirst()
        let proposed = try await Program.run(Array(all), environment: room.environment)
        #expect(proposed.errors.contains("another person approves it within 10 minutes"), "\(proposed.errors)")
        return try #require(proposed.output.split(separator: "\n").last.map(String.init))
    }

    @Test func `a proposed send leaves once, after another person has approved its text and audience`() async throws {
        let room = try await room()
        let id = try await propose(
            room, "send", "--category", "World", "--message=-Polls close-", "--by", "anna@desk1", "--reason", "8 pm")
        #expect(room.hub.receivedCount == 0)
        let listed = try await room.run("approve", "--json").output
        #expect(
            listed.contains(
                #""id":"\#(id)","act":"send","text":"-Polls close-","effect":"send to the readers of World (tags "#),
            "\(listed)")
        for name in ["anna@desk1", "Anna@elsewhere"] {
            let own = try await room.run("approve", id, "--by", name)
            #expect((own.status, own.output) == (1, ""))
            #expect(own.errors.contains("another person must approve it"), "\(own.errors)")
        }
        let hidden = try await room.run("approve", id, "--by", "an\u{200B}na")
        #expect(hidden.status == 64 && hidden.errors.contains("invisible character"), "\(hidden.errors)")
        #expect(room.hub.receivedCount == 0)
        let approved = try await room.run("approve", id, "--by", "ben@desk2")
        #expect(approved.status == 0, "\(approved.errors)")
        #expect(approved.errors.contains("send to the readers of World (tags"), "\(approved.errors)")
        #expect(approved.errors.contains("“-Polls close-”"), "\(approved.errors)")
        #expect(room.hub.receivedCount == 1)
        let again = try await room.run("approve", id, "--by", "ben@desk2")
        #expect((again.status, room.hub.receivedCount) == (1, 1))
        #expect(try await room.run("approve").output == "nothing waits for approval\n")
        let audit = try await room.run("audit", "--json").output
        #expect(audit.contains(#""by":"anna@desk1, approved by ben@desk2","reason":"8 pm""#), "\(audit)")
        await room.close()
    }

    @Test func `a test needs no approval, nor does a send that is only shown`() async throws {
        let room = try await room()
        let shown = try await room.run("send", "--category", "World", "--message", "m", "--dry-run")
        #expect((shown.status, room.hub.receivedCount) == (0, 0))
        #expect(try await room.run("approve").output == "nothing waits for approval\n")
        await room.close()
    }

    @Test func `of several who approve at once, one carries it out`() async throws {
        let room = try await room()
        let id = try await propose(room, "send", "--category", "World", "--message", "m", "--by", "anna")
        let ended = try await withThrowingTaskGroup(of: Int32.self) { group in
            for name in ["ben", "cem", "dora"] {
                group.addTask { try await room.run("approve", id, "--by", name).status }
            }
            return try await group.reduce(into: [Int32]()) { $0.append($1) }
        }
        #expect(ended.sorted() == [0, 1, 1])
        #expect(room.hub.receivedCount == 1)
        await room.close()
    }

    @Test func `a rejected proposal is not carried out`() async throws {
        let room = try await room()
        let id = try await propose(room, "send", "--category", "World", "--message", "m", "--by", "anna")
        #expect(try await room.run("approve", id, "--reject").status == 0)
        let late = try await room.run("approve", id, "--by", "ben")
        #expect((late.status, room.hub.receivedCount) == (1, 0))
        #expect(late.errors.contains("there is no proposal '\(id)'"))
        await room.close()
    }

    @Test func `a proposal that would do something else by now is not approved`() async throws {
        let room = try await room()
        let id = try await propose(
            room, "send", "--category", "World", "--message", "m", "--language", "fr", "--by", "anna")
        let former = try String(contentsOfFile: room.path("newswire.yaml"), encoding: .utf8)
        try room.write(former + "\ncategories: {World: {tag: everyone}}\n", to: "other.yaml")
        let refused = try await Program.run(
            ["approve", "--config", room.path("other.yaml"), id, "--by", "ben"], environment: room.environment)
        #expect(refused.status == 1 && refused.errors.contains("(tags everyone)"), "\(refused.errors)")
        try room.write(former + "\npayload: {message: \"False alarm: {{headline}}\"}\n", to: "other.yaml")
        let otherText = try await Program.run(
            ["approve", "--config", room.path("other.yaml"), id, "--by", "ben"], environment: room.environment)
        #expect(otherText.status == 1 && otherText.errors.contains("is not carried out"), "\(otherText.errors)")
        #expect(room.hub.receivedCount == 0)
        #expect(try await room.run("approve", id, "--by", "ben").status == 0)
        await room.close()
    }

    @Test func `a scheduled send is approved, and is on the audit topic with both names`() async throws {
        let room = try await room()
        let id = try await propose(
            room, "send", "--category", "World", "--message", "Happy 2100", "--at", "2100-01-01T00:00Z", "--by",
            "anna", "--reason", "new year")
        let own = try await room.run("approve", id, "--by", "anna")
        #expect(own.status == 1)
        let approved = try await room.run("approve", id, "--by", "ben")
        #expect(approved.status == 0, "\(approved.errors)")
        let audit = try await room.run("audit", "--json").output
        #expect(audit.contains(#""by":"anna, approved by ben","reason":"new year""#), "\(audit)")
        let orders = try await room.run("control", "--json").output
        #expect(!(audit + orders).contains("Happy 2100"))
        await room.close()
    }

    @Test func `a scheduled send without the topics that it needs is refused, and its proposal is not used up`()
        async throws
    {
        let room = try await room()
        let id = try await propose(
            room, "send", "--category", "World", "--message", "m", "--at", "2100-01-01T00:00Z", "--by", "anna")
        let withoutHeld = room.environment.merging(["NEWSWIRE_HELD_TOPIC": "gone"]) { $1 }
        let refused = try await Program.run(
            ["approve", "--config", room.path("newswire.yaml"), id, "--by", "ben"], environment: withoutHeld)
        #expect(refused.status == 1 && refused.output.isEmpty, "\(refused.output)")
        #expect(refused.errors.contains(/not scheduled: .*gone/), "\(refused.errors)")
        let proposed = try await Program.run(
            [
                "send", "--config", room.path("newswire.yaml"), "--category", "World", "--message", "m", "--at",
                "2100-01-01T00:00Z",
            ],
            environment: withoutHeld)
        #expect(proposed.status == 1 && proposed.errors.contains(/not scheduled: .*gone/), "\(proposed.errors)")
        #expect(try await room.run("approve", id, "--by", "ben").status == 0)
        await room.close()

        let bare = try await self.room(missing: "news.events")
        for arguments in [["--test"], []] {
            let unplaced = try await Program.run(
                [
                    "send", "--config", bare.path("newswire.yaml"), "--category", "World", "--message", "m", "--at",
                    "2100-01-01T00:00Z",
                ]
                    + arguments, environment: bare.environment.merging(["NEWSWIRE_TEST_TAG": "testers"]) { $1 })
            #expect(unplaced.status == 1 && unplaced.output.isEmpty, "\(unplaced.output)")
            #expect(unplaced.errors.contains(/not scheduled: .*news\.events/), "\(unplaced.errors)")
        }
        await bare.close()
    }

    @Test func `an approved resume ends the stop that was proposed, and no other`() async throws {
        let room = try await room()
        let early = try await room.run("resume", "hub")
        #expect((early.status, early.output) == (1, "") && early.errors.contains("not stopped"), "\(early.errors)")
        _ = try await room.run("stop", "hub", "--reason", "wrong alert")
        let id = try await propose(room, "resume", "hub", "--by", "anna")
        _ = try await room.run("stop", "hub", "--reason", "another one")
        let late = try await room.run("approve", id, "--by", "ben")
        #expect(late.status == 1 && late.errors.contains("another one"), "\(late.errors)")
        #expect(try await room.run("control", "--json").output.contains(#""scope":"stop/hub""#))
        await room.close()
    }

    @Test func `the hub is stopped at once, and resumed by two`() async throws {
        let room = try await room()
        _ = try await room.run("stop", "hub", "--reason", "wrong alert")
        let id = try await propose(room, "resume", "hub", "--by", "anna")
        #expect(try await room.run("control", "--json").output.contains(#""scope":"stop/hub""#))
        // Without a process the order is in force, but nobody has applied it.
        let approved = try await room.run("approve", id, "--by", "ben")
        #expect(approved.output.contains("no process has confirmed"), "\(approved.output)\(approved.errors)")
        #expect(try await room.run("control", "--json").output.isEmpty)
        await room.close()
    }

    @Test func `a recall is in force at once, and its replacement leaves when it is approved`() async throws {
        let room = try await room()
        let event = #"{"id":"first","story":"quake","headline":"h","category":"World"}"#
        _ = try await room.run("publish", "-", input: event)
        #expect(try await room.run("run", "--until-caught-up").status == 0)
        let id = try await propose(
            room, "recall", "quake", "--reason", "kill", "--replace", "Withdrawn", "--by", "anna")
        #expect(try await room.run("control", "--json").output.contains(#""scope":"recall/story/quake""#))
        #expect(try await room.run("run", "--until-caught-up").status == 0)
        #expect(room.hub.receivedCount == 1)
        let approved = try await room.run("approve", id, "--by", "ben", "--json")
        #expect(approved.output.contains(#""replaced":["World"]"#), "\(approved.output)\(approved.errors)")
        #expect(try await room.run("run", "--until-caught-up").status == 0)
        #expect(room.hub.receivedCount == 2)
        await room.close()
    }

    @Test func `the replacement of a lifted recall is not approved`() async throws {
        let room = try await room()
        let id = try await propose(
            room, "recall", "quake", "--reason", "kill", "--replace", "Withdrawn", "--unseen", "--by", "anna")
        _ = try await room.run("recall", "quake", "--lift")
        let late = try await room.run("approve", id, "--by", "ben")
        #expect(late.status == 1)
        #expect(late.errors.contains("the recall of quake was lifted"), "\(late.errors)")
        #expect(try await room.run("control", "--json").output.isEmpty)
        await room.close()
    }
}
