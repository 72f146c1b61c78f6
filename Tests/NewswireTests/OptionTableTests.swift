import Foundation
import Testing

/// Compares the table of options in the guide with the options of all commands.
struct OptionTableTests {
    /// The parts of `newswire --experimental-dump-help` that this test needs.
    private struct Help: Decodable {
        var command: Command

        struct Command: Decodable {
            var commandName: String
            var subcommands: [Command]?
            var arguments: [Argument]?
        }

        struct Argument: Decodable {
            var kind: String
            var shouldDisplay: Bool
            var names: [Name]?
            var valueName: String?
        }

        struct Name: Decodable {
            var kind: String
            var name: String
        }
    }

    private struct Row: Equatable {
        /// Empty for a flag.
        var value: String
        var meaning: String
        var commands: Set<String>
    }

    private static let guide = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Sources/NewswireCommands/NewswireCommands.docc/Options.md")

    private func commands() async throws -> [Help.Command] {
        let dump = try await Program.run(["--experimental-dump-help"]).output
        let root = try JSONDecoder().decode(Help.self, from: Data(dump.utf8)).command
        return (root.subcommands ?? []).filter { $0.commandName != "help" }
    }

    private func table() throws -> [(name: String, row: Row)] {
        let text = try String(contentsOf: Self.guide, encoding: .utf8)
        return text.split(separator: "\n").filter { $0.hasPrefix("| `--") }.map { line in
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            let name = cells[0].split(separator: "`")[0]
            let words = name.split(separator: " ")
            return (
                String(words[0].dropFirst(2)),
                Row(
                    value: words.dropFirst().joined(separator: " "), meaning: cells[1],
                    commands: Set(cells[2].split(separator: "`").map(String.init).filter { $0.first?.isLetter == true })
                )
            )
        }
    }

    @Test func `every option of every command is in the guide's table, and nothing else`() async throws {
        let rows = try table()
        var found: [String: [String: Set<String>]] = [:]
        let commands = try await commands()
        #expect(commands.count > 20)
        for command in commands {
            for argument in command.arguments ?? [] where argument.shouldDisplay && argument.kind != "positional" {
                let value = argument.kind == "flag" ? "" : "<\(argument.valueName ?? "")>"
                for name in argument.names ?? [] where name.kind == "long" && !["help", "version"].contains(name.name) {
                    found[name.name, default: [:]][value, default: []].insert(command.commandName)
                }
            }
        }
        for (name, values) in found {
            #expect(values.count == 1, "--\(name) takes other values in other commands: \(values)")
            guard let row = rows.first(where: { $0.name == name })?.row else {
                Issue.record("--\(name) is missing: \(values)")
                continue
            }
            #expect(values[row.value] == row.commands, "--\(name): \(values)")
        }
        #expect(Set(rows.map(\.name)).subtracting(found.keys) == [])
    }

    @Test func `an option has one meaning, and a meaning one option`() throws {
        let rows = try table()
        #expect(Set(rows.map(\.name)).count == rows.count)
        #expect(Set(rows.map { $0.row.meaning.lowercased() }).count == rows.count)
        #expect(rows.map(\.name) == rows.map(\.name).sorted())
    }

    @Test(arguments: [
        (["hub", "--name", "_no"], "--hub must not begin with '_'"), (["demo", "--port", "70000"], "0 to 65535"),
        (["release", "--lane", "live", "--at", "x y", "--config", "/no"], "/no"),
        (["control", "--list", "--config", "/no"], "/no"),
        (["redrive", "--reason", "unknown-category"], "--code"), (["redrive", "--reason", "http-400"], "--code"),
    ])
    func `a former name still works, or says what to write`(arguments: [String], text: String) async throws {
        let ended = try await Program.run(arguments)
        #expect(ended.status == 64 || ended.status == 78)
        #expect(ended.errors.contains(text), "\(ended.errors)")
    }

    @Test func `names of the configuration are completed`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "newswire-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "newswire.yaml").path
        try """
        kafka: {bootstrapServers: ["127.0.0.1:1"]}
        lanes: {live: {topics: [a]}, slow: {topics: [b]}}
        hub: {connectionString: "${NOT_SET}", name: h}
        """.write(toFile: file, atomically: true, encoding: .utf8)
        func completed(_ words: String...) async throws -> [String] {
            let ended = try await Program.run(
                ["---completion"] + words, environment: ["NEWSWIRE_CONFIG": file, "SAP_SHELL": "bash"])
            #expect(ended.status == 0, "\(ended.errors)")
            return ended.output.split(separator: "\n").map(String.init)
        }
        let lanes = try await completed("publish", "--", "--lane", "3", "0", "newswire", "publish", "--lane", "")
        #expect(lanes == ["live", "slow"])
        let categories = try await completed("send", "--", "--category", "3", "0", "newswire", "send", "--category", "")
        #expect(categories.contains("World"))
        let gates = try await completed("stop", "--", "positional@0", "2", "0", "newswire", "stop", "")
        #expect(Set(gates).isSuperset(of: ["hub", "lane:slow", "category:Sports"]))
    }
}
