import Foundation
import HubServer
import KafkaIO
import NewswireSettings
import NotificationHub
import TestSupport
import Testing

/// Follows the README.
struct ReadmeTests {
    private let text: String

    init() throws {
        text = try String(contentsOf: repository.appending(path: "README.md"), encoding: .utf8)
    }

    private func blocks(_ language: String) -> [String] {
        text.components(separatedBy: "```\(language)\n").dropFirst().compactMap {
            $0.components(separatedBy: "```").first
        }
    }

    @Test func `the configuration is valid`() throws {
        let yaml = try #require(blocks("yaml").first)
        let connection =
            "Endpoint=sb://example.servicebus.windows.net/;SharedAccessKeyName=send;SharedAccessKey=c2VjcmV0"
        #expect(LoadedSettings(yaml, environment: ["NEWSWIRE_HUB_CONNECTION_STRING": connection]).problems == [])
    }

    /// No container engine is needed to test; `deploy/lint` reads the files.
    @Test func `every program and file in deploy that a command names exists`() {
        let words = blocks("sh").flatMap { $0.split { $0 == " " || $0 == "\n" } }.filter { $0.hasPrefix("deploy/") }
        #expect(!words.isEmpty)
        for word in words {
            #expect(FileManager.default.fileExists(atPath: repository.appending(path: String(word)).path), "\(word)")
        }
    }

    @Test func `the samples are what they are said to be`() async throws {
        let yaml = try String(contentsOf: repository.appending(path: "samples/newswire.yaml"), encoding: .utf8)
        #expect(yaml == blocks("yaml").first)
        let events = repository.appending(path: "samples/events.ndjson").path
        let ended = try await Program.run(["demo", "--once", "--port", "0", "--events", events])
        #expect(ended.status == 0, "\(ended.output)\(ended.errors)")
    }

    /// A free port of this machine.
    private func freePort() async throws -> Int {
        let server = try await HubServer(HubServerSettings(port: 0, hubName: try HubName("any"))).start()
        await server.stop()
        return server.port
    }

    /// One block after the other, as a newcomer pastes them into a new folder; other ports, as those may be in use.
    @Test func `the commands, pasted against a running broker, do what the text says`() async throws {
        let topics = ["news.events", "news.backfill", "news.results", "news.dead-letters"]
        let orders = [("news.control", 1), ("news.audit", 1), ("news.held", 2)]
        let room = try await ProgramRoom(topics: topics.map { ($0, 2) } + orders)
        try room.write(try #require(blocks("yaml").first), to: "newswire.yaml")
        let (hub, status) = (try await freePort(), try await freePort())
        let script = blocks("sh").filter { $0.contains("newswire.yaml") && !$0.contains("docker") }.joined(
            separator: "\n"
        )
        .replacing("newswire hub", with: "newswire hub --listen 127.0.0.1:\(hub)")
        .replacing(":8090", with: ":\(hub)").replacing(":9464", with: ":\(status)")
        let pasted = try await Program.run(
            pasted: script + "\nwait", in: room.folder,
            environment: [
                "NEWSWIRE_HTTP_LISTEN": "127.0.0.1:\(status)",
                "NEWSWIRE_KAFKA_BOOTSTRAP_SERVERS": room.broker.bootstrapServers.joined(separator: ","),
            ])
        #expect(pasted.status == 0, "\(pasted.output)\(pasted.errors)")
        for event in ["ferry-1", "final-1", "quake-1"] {
            // A line of `results` names the platform; one of `runs` does not.
            let results = pasted.output.split(separator: "\n").filter { line in
                ["accepted", event, "template"].allSatisfy { line.contains($0) }
            }
            #expect(results.count == 1, "\(event): \(pasted.output)")
        }
        #expect(pasted.output.contains(#"{"ready":true"#))
        for done in ["stopped the hub", "recalled quake-1", "resumed the hub", "lifted the recall of quake-1"] {
            #expect(pasted.output.contains("\(done): applied by 1 of 1 process in "), "\(pasted.output)")
        }
        #expect(
            pasted.errors.contains(
                "the replacement for the readers of World waits on its lane: the hub was stopped by "),
            "\(pasted.errors)")
        await room.close()
    }
}
