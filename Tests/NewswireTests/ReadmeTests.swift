import Foundation
import NewswireSettings
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

    @Test func `every command exists and has the options shown`() async throws {
        let commands = blocks("sh").flatMap { $0.split(separator: "\n") }.map(String.init)
        #expect(!commands.isEmpty)
        for command in commands where !command.hasPrefix("export ") {
            let words = command.prefix { $0 != "#" }.split(separator: " ").map(String.init)
            guard let program = words.first else { continue }
            if program.hasPrefix("deploy/") {
                #expect(FileManager.default.isExecutableFile(atPath: repository.appending(path: program).path))
            } else if program == "docker" {
                // No container engine is needed to test; the file it names is linted by deploy/lint.
                #expect(words.contains { FileManager.default.fileExists(atPath: repository.appending(path: $0).path) })
            } else {
                #expect(program == "newswire")
                let help = try await Program.run([words[1], "--help"]).output
                for option in words.dropFirst(2) where option.hasPrefix("--") {
                    #expect(help.contains(option), "\(command)")
                }
            }
        }
    }

    @Test func `the commands that need no network work as written`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "readme-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data(try #require(blocks("yaml").first).utf8).write(to: folder.appending(path: "newswire.yaml"))
        let script = try #require(blocks("sh").first { $0.contains("--offline") })
        let path =
            Program.url.deletingLastPathComponent().path + ":" + (ProcessInfo.processInfo.environment["PATH"] ?? "")
        let dryRun = "newswire send --config newswire.yaml --category World --message \"A test\" --dry-run"
        #expect(text.contains(dryRun))
        let shell = Process()
        shell.executableURL = URL(fileURLWithPath: "/bin/bash")
        shell.arguments = ["-euc", script + dryRun + " >/dev/null"]
        shell.currentDirectoryURL = folder
        shell.environment = ["PATH": path]
        shell.standardOutput = FileHandle.nullDevice
        try shell.run()
        shell.waitUntilExit()
        #expect(shell.terminationStatus == 0)
    }
}
