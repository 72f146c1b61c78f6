import Foundation
import HubServer
import Testing

/// Commands either print their results or report that they could not.
struct OutputTests {
    private static let commands = [
        ["results"], ["results", "--json"], ["topics"], ["check"], ["check", "--offline", "--print"],
        ["send", "--category", "World", "--message", "m", "--dry-run"],
        ["send", "--category", "World", "--message", "m"], ["redrive"], ["publish", "-"],
    ]
    private static let others = [
        ["--help"], ["--version"], ["run", "--help"], ["--generate-completion-script", "bash"],
        ["simulate", "--lives", "1"], ["hub", "--listen", "127.0.0.1:0"], ["demo", "--once"],
    ]

    @Test func `on a full disk every command fails and says so`() async throws {
        let room = try await room()
        for arguments in Self.commands {
            try await expect(
                arguments, status: 1, "error: standard output: No space left on device\n", room,
                output: Program.fullDisk)
        }
        for arguments in Self.others {
            try await expect(
                arguments, status: 1, "error: standard output: No space left on device\n", output: Program.fullDisk)
        }
        await room.close()
    }

    @Test func `without a reader every command ends quietly`() async throws {
        let room = try await room()
        for arguments in Self.commands { try await expect(arguments, status: 0, "", room, output: Self.closed) }
        for arguments in Self.others { try await expect(arguments, status: 0, "", output: Self.closed) }
        await room.close()
    }

    @Test func `without a reader a recall still replaces its story`() async throws {
        let room = try await room()
        #expect(room.hub.receivedCount == 1)
        let recall = try await Program.run(
            [
                "recall", "e", "--reason", "kill", "--replace", "Withdrawn", "--config", room.path("newswire.yaml"),
            ], environment: room.environment, output: Self.closed())
        #expect(recall.status == 1 && recall.errors.contains("no process"), "\(recall.errors)")
        #expect(try await room.run("run", "--until-caught-up").status == 0)
        #expect(room.hub.receivedCount == 2)
        await room.close()
    }

    @Test func `following results ends with its reader, even while no results arrive`() async throws {
        let room = try await room()
        let pipe = Pipe()
        let running = try room.start("results", "--follow", "--json", output: pipe.fileHandleForWriting)
        try pipe.fileHandleForWriting.close()
        let first = pipe.fileHandleForReading.availableData
        #expect(String(decoding: first, as: UTF8.self).hasPrefix(#"{"eventId":"e""#))
        try pipe.fileHandleForReading.close()
        let ended = try await running.ended()
        #expect(ended.status == 0)
        #expect(ended.errors == "")
        await room.close()
    }

    /// A room with one result on the topic.
    private func room() async throws -> ProgramRoom {
        let room = try await ProgramRoom(
            topics: [
                ("news.events", 2), ("news.results", 2), ("news.dead-letters", 2), ("news.control", 1),
                ("news.audit", 1),
            ])
        try room.write(#"{"id":"e","headline":"H","category":"World"}"#, to: "events.ndjson")
        let published = try await room.run("publish", room.path("events.ndjson"))
        #expect(published.status == 0, "\(published.errors)")
        let ended = try await room.run("run", "--until-caught-up")
        #expect(ended.status == 0, "\(ended.errors)")
        return room
    }

    private func expect(
        _ arguments: [String], status: Int32, _ errors: String, _ room: ProgramRoom? = nil,
        output: () throws -> FileHandle
    ) async throws {
        var arguments = arguments
        if let room { arguments += ["--config", room.path("newswire.yaml")] }
        let ended = try await Program.run(
            arguments, environment: room?.environment ?? [:], input: #"{"id":"f","headline":"H","category":"World"}"#,
            output: output())
        #expect(ended.status == status, "\(arguments): \(ended.errors)")
        #expect(ended.errors == errors, "\(arguments)")
    }

    /// A pipe without a reader, as the standard output of a command.
    private static func closed() throws -> FileHandle {
        let pipe = Pipe()
        try pipe.fileHandleForReading.close()
        return pipe.fileHandleForWriting
    }
}
