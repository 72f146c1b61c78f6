import Foundation
import HubServer
import KafkaIO
import NotificationHub
import Testing

/// Two consumer groups over the same news, each with a hub of its own. They share the control and audit topic.
struct SeveralHubsTests {
    private static let topics = [
        ("news.events", 2), ("news.results", 2), ("news.dead-letters", 2), ("news.held", 2), ("sport.results", 2),
        ("sport.dead-letters", 2), ("sport.held", 2), ("news.control", 1), ("news.audit", 1),
    ]

    /// The same settings file for another group, hub and result topics.
    private func sport(_ room: ProgramRoom, _ hub: RunningHub) -> [String: String] {
        let own = [
            "HUB": hub.connectionString.revealed, "NEWSWIRE_HUB_NAME": "sport", "NEWSWIRE_KAFKA_GROUP": "sport",
            "NEWSWIRE_RESULTS_TOPIC": "sport.results", "NEWSWIRE_DEAD_LETTERS_TOPIC": "sport.dead-letters",
            "NEWSWIRE_HELD_TOPIC": "sport.held",
        ]
        return room.environment.merging(own) { $1 }
    }

    @Test func `both hubs get all news, an order reaches both groups, and what is held stays apart`() async throws {
        let room = try await ProgramRoom(topics: Self.topics)
        let hub = try await HubServer(HubServerSettings(port: 0, hubName: try HubName("sport"))).start()
        try room.write(
            try String(contentsOf: room.folder.appending(path: "newswire.yaml"), encoding: .utf8)
                + "\nenvironment: production\nacceptUnstamped: true\n", to: "newswire.yaml")
        let environments = [room.environment, sport(room, hub)]
        func run(_ index: Int, _ arguments: String...) async throws -> Program.Ended {
            let all = arguments.prefix(1) + ["--config", room.path("newswire.yaml")] + arguments.dropFirst()
            return try await Program.run(Array(all), environment: environments[index])
        }
        var running: [Program.Running] = []
        for environment in environments {
            running.append(
                try Program.start(["run", "--config", room.path("newswire.yaml")], environment: environment))
        }
        for process in running { try await process.wrote("partitions assigned") }
        func publish(_ id: String, _ more: String = "") async throws {
            let event = #"{"id":"\#(id)","story":"\#(id)","headline":"h","category":"World"\#(more)}"#
            #expect(try await room.run("publish", "-", input: event).status == 0)
        }
        func outcomes(_ index: Int) async throws -> [String] {
            try await run(index, "results", "--json").output.matches(of: /"eventId":"(\w+)".*?"outcome":"(\w+)"/)
                .map { "\($0.1) \($0.2)" }
        }

        try await publish("a")
        while room.hub.receivedCount < 1 || hub.receivedCount < 1 { await Task.yield() }
        try await publish("b", #","embargoUntil":"2100-01-01T00:00:00Z""#)
        for index in 0...1 {
            while try await outcomes(index) != ["a accepted", "b held"] {}
            #expect(try await run(index, "held", "--json").output.split(separator: "\n").count == 1)
        }
        let stopped = try await run(1, "stop", "hub", "--reason", "r", "--json")
        #expect(stopped.status == 0 && stopped.output.contains(#""processes":2,"applied":2,"#), "\(stopped.output)")
        #expect(try await run(0, "resume", "hub").status == 0)
        let recalled = try await run(0, "recall", "b", "--reason", "r", "--json")
        #expect(recalled.status == 0 && recalled.output.contains(#""processes":2,"applied":2,"#), "\(recalled.output)")
        for index in 0...1 {
            while try await outcomes(index) != ["a accepted", "b held", "b canceled"] {}
        }
        #expect(room.hub.receivedCount == 1 && hub.receivedCount == 1)
        for index in 0...1 {
            let checked = try await run(index, "check")
            #expect(checked.output.contains("environment production (hub "), "\(checked.output)")
        }
        for process in running {
            process.terminate()
            #expect(try await process.ended().status == 0)
        }
        await hub.stop()
        await room.close()
    }

    @Test func `a replacement is approved with the settings of the group that proposed it only`() async throws {
        let room = try await ProgramRoom(topics: Self.topics)
        let hub = try await HubServer(HubServerSettings(port: 0, hubName: try HubName("sport"))).start()
        try room.write(
            try String(contentsOf: room.folder.appending(path: "newswire.yaml"), encoding: .utf8)
                + "\ncontrol: {approval: {send: true, replace: true}}\n", to: "newswire.yaml")
        func run(_ environment: [String: String], _ arguments: String...) async throws -> Program.Ended {
            let all = arguments.prefix(1) + ["--config", room.path("newswire.yaml")] + arguments.dropFirst()
            return try await Program.run(Array(all), environment: environment)
        }
        let event = #"{"id":"a","story":"quake","headline":"h","category":"World"}"#
        _ = try await room.run("publish", "-", input: event)
        for environment in [room.environment, sport(room, hub)] {
            #expect(try await run(environment, "run", "--until-caught-up").status == 0)
        }
        let proposals = [
            try await room.run("recall", "quake", "--reason", "r", "--replace", "Withdrawn", "--by", "anna"),
            try await room.run(
                "send", "--category", "World", "--message", "m", "--at", "2100-01-01T00:00Z", "--by", "anna"),
        ]
        for proposed in proposals {
            let id = try #require(proposed.output.split(separator: "\n").last.map(String.init))
            let refused = try await run(sport(room, hub), "approve", id, "--by", "ben")
            #expect(refused.status == 1, "\(refused.errors)")
            #expect(
                refused.errors.contains(
                    /\(group sport\).*, and not .*of the hub breaking-news at .* \(group newswire\)/),
                "\(refused.errors)")
            #expect(refused.errors.contains("Use the proposer's configuration"), "\(refused.errors)")
            #expect(!refused.errors.contains("SharedAccessKey"))
            // The recall is in force, but no process is there to confirm it.
            let approved = try await room.run("approve", id, "--by", "ben")
            #expect(!approved.errors.contains("is not carried out"), "\(approved.errors)")
        }
        for environment in [room.environment, sport(room, hub)] {
            #expect(try await run(environment, "run", "--until-caught-up").status == 0)
        }
        #expect(room.hub.receivedCount == 2 && hub.receivedCount == 1)
        await hub.stop()
        await room.close()
    }
}
