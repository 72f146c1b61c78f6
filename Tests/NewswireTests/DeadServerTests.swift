import Foundation
import Testing

/// Commands whose broker, or whose hub, does not answer.
struct DeadServerTests {
    private static let commands = [
        ["check"], ["held"], ["results"], ["redrive"], ["redrive", "--dry-run", "--json"], ["topics"],
        ["topics", "--create"], ["control"], ["audit"], ["runs"], ["stop", "hub", "--reason", "r"], ["resume", "hub"],
        ["recall", "s", "--reason", "r"], ["recall", "s", "--reason", "r", "--unseen"],
        ["send", "--category", "World", "--message", "m"], ["ingest", "--status"], ["ingest", "--once"],
        ["run", "--until-caught-up"],
    ]

    /// Words of librdkafka, of SwiftNIO and of their languages.
    private static let foreign = [
        "_TRANSPORT", "_TIMED_OUT", "ipv4#", "bootstrap:", "in state", "Local:", "connectRefused", "NIO", "errno",
    ]

    private let folder = FileManager.default.temporaryDirectory.appending(path: "newswire-dead-\(UUID().uuidString)")

    private func configuration(_ more: String = "") throws -> String {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appending(path: "newswire.yaml")
        try """
        kafka: {bootstrapServers: ["127.0.0.1:1"]}
        lanes: {live: {topics: [news.events]}}
        hub: {connectionString: "Endpoint=http://127.0.0.1:1/;SharedAccessKeyName=a;SharedAccessKey=YWJj", name: h}
        http: {listen: 127.0.0.1:0}
        \(more)
        """.write(to: file, atomically: true, encoding: .utf8)
        return file.path
    }

    @Test func `a dead broker is reported in our words by every command, with what to do`() async throws {
        let path = try configuration("ingest: {feeds: [{name: a, url: 'http://127.0.0.1:1/', category: World}]}")
        defer { try? FileManager.default.removeItem(at: folder) }
        try await withThrowingTaskGroup(of: (command: [String], ended: Program.Ended).self) { group in
            for command in Self.commands {
                group.addTask { (command, try await Program.run(command + ["--config", path])) }
            }
            for try await (command, ended) in group {
                let text = ended.output + ended.errors
                #expect(ended.status == 1, "\(command): \(text)")
                #expect(
                    text.contains("he broker 127.0.0.1:1 cannot be reached: connection refused"), "\(command): \(text)")
                #expect(text.lowercased().contains("check kafka.bootstrapservers"), "\(command): \(text)")
                for word in Self.foreign { #expect(!text.contains(word), "\(command): \(text)") }
                if ["redrive", "results"].contains(command.first) { #expect(ended.output.isEmpty, "\(ended.output)") }
            }
        }
    }

    @Test func `a token endpoint that does not answer is reported by commands as the reason`() async throws {
        let path = try configuration()
        defer { try? FileManager.default.removeItem(at: folder) }
        let environment = [
            "NEWSWIRE_KAFKA_OAUTH_TOKEN_ENDPOINT": "http://127.0.0.1:1/token", "NEWSWIRE_KAFKA_OAUTH_CLIENT_ID": "me",
            "NEWSWIRE_KAFKA_OAUTH_CLIENT_SECRET": "canary",
        ]
        for command in [["check"], ["topics"], ["results"], ["control"], ["held"]] {
            let ended = try await Program.run(command + ["--config", path], environment: environment)
            let text = ended.output + ended.errors
            #expect(ended.status == 1, "\(command): \(text)")
            #expect(
                text.contains("o token for Kafka: the token endpoint does not answer: connection refused"),
                "\(command): \(text)")
            #expect(text.contains("heck kafka.oauth.tokenEndpoint") && !text.contains("canary"), "\(command): \(text)")
        }
    }

    @Test func `a dead hub is reported in our words`() async throws {
        let path = try configuration()
        defer { try? FileManager.default.removeItem(at: folder) }
        let ended = try await Program.run([
            "send", "--category", "World", "--message", "m", "--despite-stop", "--config", path,
        ])
        #expect(ended.status == 1)
        #expect(ended.output.contains("not sent: the connection was refused; check the Endpoint"), "\(ended.output)")
        for word in Self.foreign { #expect(!(ended.output + ended.errors).contains(word), "\(ended)") }
    }

    @Test func `the library's own words are in the log at debug`() async throws {
        let path = try configuration("logging: {level: debug, format: json}")
        defer { try? FileManager.default.removeItem(at: folder) }
        let ended = try await Program.run(["held", "--config", path])
        let lines = ended.errors.split(separator: "\n").filter { $0.contains(#""level":"debug""#) }
        #expect(lines.contains { $0.contains("_TRANSPORT") && $0.contains("Connect to ipv4#127.0.0.1:1") }, "\(ended)")
    }

    @Test func `a missing topic is named with what creates it`() async throws {
        let room = try await ProgramRoom(topics: [("news.events", 1)])
        for command in ["held", "results", "redrive", "runs"] {
            let ended = try await room.run(command)
            #expect(ended.status == 1, "\(command)")
            let topic = ["held": "news.held", "redrive": "news.dead-letters"][command] ?? "news.results"
            #expect(ended.errors.contains("opic \(topic) does not exist"), "\(command): \(ended.errors)")
            #expect(ended.errors.contains("newswire topics --create"), "\(command): \(ended.errors)")
            #expect(!ended.errors.contains("UNKNOWN_TOPIC"), "\(command): \(ended.errors)")
        }
        await room.close()
    }
}
