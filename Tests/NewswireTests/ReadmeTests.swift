import Foundation
import HubServer
import KafkaIO
import NewswireSettings
import NotificationHub
import TestSupport
import Testing

/// Follows the README and the guides.
struct ReadmeTests {
    /// A Markdown file of the documentation.
    private struct Page {
        /// The path inside the repository.
        let path: String
        let text: String

        init(_ path: String) throws {
            self.path = path
            text = try String(contentsOf: repository.appending(path: path), encoding: .utf8)
        }

        /// The contents of the code blocks in a language.
        func blocks(_ language: String) -> [String] {
            text.components(separatedBy: "```\(language)\n").dropFirst().compactMap {
                $0.components(separatedBy: "```").first
            }
        }

        /// The shell blocks that a test can paste. The others build the project or need a container engine.
        var pastedBlocks: [String] {
            blocks("sh").filter { block in
                block.split(separator: "\n").allSatisfy { !$0.hasPrefix("deploy/") && !$0.hasPrefix("docker ") }
            }
        }

        /// The targets of links to files, without anchors.
        var linkedFiles: [String] {
            text.components(separatedBy: "](").dropFirst()
                .map { String($0.prefix { $0 != ")" && $0 != "#" }) }
                .filter { !$0.isEmpty && !$0.hasPrefix("https:") }
        }
    }

    private static let guideFolder = "Sources/NewswireCommands/NewswireCommands.docc"

    /// The guides in the order in which their commands are pasted after those of the README, into the same shell. The first
    /// guide starts the hub, the last one ends it.
    private static let guideNames = [
        "NewswireCommands.md", "Backfill.md", "Editors.md", "Audiences.md", "Formats.md", "Payloads.md", "Feeds.md",
        "Telemetry.md",
        "Operations.md",
    ]

    private let readme: Page
    private let guides: [Page]
    private var pages: [Page] { [readme] + guides }

    init() throws {
        readme = try Page("README.md")
        guides = try Self.guideNames.map { try Page("\(Self.guideFolder)/\($0)") }
    }

    @Test func `every guide is pasted`() throws {
        let folder = repository.appending(path: Self.guideFolder).path
        let files = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".md") }
        // A reference without commands.
        #expect(Set(files) == Set(Self.guideNames + ["Options.md"]))
        for page in pages { #expect(!page.pastedBlocks.isEmpty, "\(page.path)") }
    }

    @Test func `the configuration is valid`() throws {
        #expect(problems(of: try #require(readme.blocks("yaml").first)) == [])
    }

    /// A guide shows a few settings; the other ones are those of the README.
    @Test func `the settings that a guide shows are valid`() throws {
        let configuration = sections(of: try #require(readme.blocks("yaml").first))
        let shown = guides.flatMap { $0.blocks("yaml") }
        #expect(!shown.isEmpty)
        for settings in shown {
            let keys = Set(sections(of: settings).map(\.key))
            let others = configuration.filter { !keys.contains($0.key) }.map(\.text).joined()
            // No file with a secret is on this machine.
            let yaml = (others + settings).replacing(/\$\{file:[^}]*\}/, with: "a secret of a test")
            #expect(problems(of: yaml) == [], "\(settings)")
        }
    }

    private func problems(of yaml: String) -> [SettingsProblem] {
        let connection =
            "Endpoint=sb://example.servicebus.windows.net/;SharedAccessKeyName=send;SharedAccessKey=c2VjcmV0"
        return LoadedSettings(yaml, environment: ["NEWSWIRE_HUB_CONNECTION_STRING": connection]).problems
    }

    /// The top-level keys of a configuration, each with its lines.
    private func sections(of yaml: String) -> [(key: String, text: String)] {
        yaml.split(separator: "\n").reduce(into: []) { sections, line in
            if line.hasPrefix(" "), !sections.isEmpty {
                sections[sections.count - 1].text += "\(line)\n"
            } else {
                sections.append((key: String(line.prefix { $0 != ":" }), text: "\(line)\n"))
            }
        }
    }

    /// No container engine is needed to test; `deploy/lint` reads the files.
    @Test func `every program and file in deploy that a command names exists`() {
        let words = pages.flatMap { $0.blocks("sh") }.flatMap { $0.split { $0 == " " || $0 == "\n" } }
            .filter { $0.hasPrefix("deploy/") }
        #expect(!words.isEmpty)
        for word in words {
            #expect(FileManager.default.fileExists(atPath: repository.appending(path: String(word)).path), "\(word)")
        }
    }

    @Test func `every link to a file leads to a file`() {
        for page in pages {
            let folder = repository.appending(path: page.path).deletingLastPathComponent()
            for file in page.linkedFiles {
                let target = folder.appending(path: file).standardizedFileURL
                #expect(FileManager.default.fileExists(atPath: target.path), "\(file) in \(page.path)")
            }
        }
    }

    @Test func `the samples are what they are said to be`() async throws {
        let yaml = try String(contentsOf: repository.appending(path: "schemas/samples/newswire.yaml"), encoding: .utf8)
        #expect(yaml == readme.blocks("yaml").first)
        let events = repository.appending(path: "schemas/samples/events.ndjson").path
        let ended = try await Program.run(["demo", "--once", "--port", "0", "--events", events])
        #expect(ended.status == 0, "\(ended.output)\(ended.errors)")
    }

    /// One block after the other, as a newcomer pastes them into a new folder; other ports, as those may be in use. The
    /// real hub of the README is the room's, the guides start one of their own.
    @Test func `the commands, pasted against a running broker, do what the text says`() async throws {
        let topics = ["news.events", "news.backfill", "news.results", "news.dead-letters", "news.telemetry"]
        let orders = [("news.control", 1), ("news.audit", 1), ("news.held", 2)]
        let room = try await ProgramRoom(topics: topics.map { ($0, 2) } + orders)
        try room.write(try #require(readme.blocks("yaml").first), to: "newswire.yaml")
        let (hub, status, telemetry) = (try await FreePort.next(), try await FreePort.next(), try await FreePort.next())
        let commands = pages.flatMap(\.pastedBlocks).joined(separator: "\n")
        let realHub = "'Endpoint=sb://…'"
        #expect(commands.contains(realHub))
        let script =
            commands
            .replacing(realHub, with: "'\(room.hub.connectionString.revealed)'")
            .replacing("newswire hub", with: "newswire hub --listen 127.0.0.1:\(hub)")
            .replacing(":8090", with: ":\(hub)").replacing(":9464", with: ":\(status)")
            .replacing(":9467", with: ":\(telemetry)")
            .replacing("--lives 200", with: "--lives 2")
        let pasted = try await Program.run(
            pasted: script + "\nwait", in: room.folder,
            environment: [
                "NEWSWIRE_HTTP_LISTEN": "127.0.0.1:\(status)",
                "NEWSWIRE_TELEMETRY_LISTEN": "127.0.0.1:\(telemetry)",
                "NEWSWIRE_KAFKA_BOOTSTRAP_SERVERS": room.broker.bootstrapServers.joined(separator: ","),
            ])
        #expect(pasted.status == 0, "\(pasted.output)\(pasted.errors)")
        try expectTheShownResult(in: pasted)
        for event in ["ferry-1", "final-1", "quake-1"] {
            // A line of `results` names the platform; one of `runs` does not.
            let results = pasted.output.split(separator: "\n").filter { line in
                ["accepted", event, "template"].allSatisfy { line.contains($0) }
            }
            #expect(results.count == 1, "\(event): \(pasted.output)")
        }
        #expect(pasted.output.components(separatedBy: #"{"ready":true"#).count == 3, "\(pasted.output)")
        for done in ["stopped the hub", "recalled quake-1", "resumed the hub", "lifted the recall of quake-1"] {
            #expect(pasted.output.contains("\(done): applied by 1 of 1 process in "), "\(pasted.output)")
        }
        #expect(
            pasted.errors.contains(
                "the replacement for the readers of World waits on its lane: the hub was stopped by "),
            "\(pasted.errors)")
        await room.close()
    }

    /// Compares the result record that the README shows with the one that its commands printed. Identifiers, places and times
    /// differ from run to run.
    private func expectTheShownResult(in pasted: Program.Ended) throws {
        let shown = try record(try #require(readme.blocks("json").first))
        let line = pasted.output.split(separator: "\n").first { $0.contains(#""eventId":"hello-1""#) }
        let printed = try record(String(try #require(line, "\(pasted.output)")))
        #expect(Set(shown.keys) == Set(printed.keys))
        for key in ["eventId", "platform", "outcome", "lane"] {
            #expect(shown[key] as? String == printed[key] as? String, "\(key)")
        }
        for key in ["categories", "tags"] {
            #expect(shown[key] as? [String] == printed[key] as? [String], "\(key)")
        }
        for key in ["attempts", "httpStatus"] {
            #expect(shown[key] as? Int == printed[key] as? Int, "\(key)")
        }
        for key in ["source", "latencyMs"] {
            #expect(members(of: shown[key]) == members(of: printed[key]), "\(key)")
        }
        #expect(shown["routing"] as? [[String: String]] == printed["routing"] as? [[String: String]])
    }

    /// The names of the members of a JSON object.
    private func members(of value: Any?) -> Set<String>? { (value as? [String: Any]).map { Set($0.keys) } }

    private func record(_ json: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
    }
}
