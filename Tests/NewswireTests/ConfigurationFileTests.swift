import Foundation
import Testing

/// The search for the configuration, and the file that `init` writes.
final class ConfigurationFileTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "newswire-\(UUID().uuidString)")
    private let key = [
        "NEWSWIRE_HUB_CONNECTION_STRING":
            "Endpoint=https://news.servicebus.windows.net/;SharedAccessKeyName=send;SharedAccessKey=c2VjcmV0"
    ]

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func paste(_ script: String, _ environment: [String: String] = [:]) async throws -> Program.Ended {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return try await Program.run(pasted: script, in: folder, environment: environment)
    }

    private var written: String {
        get throws { try String(contentsOf: folder.appending(path: "newswire.yaml"), encoding: .utf8) }
    }

    @Test func `init writes a configuration that the next command finds and that has no problem`() async throws {
        let ended = try await paste("newswire init; newswire check --offline", key)
        #expect(ended.status == 0)
        #expect(ended.errors.isEmpty)
        #expect(ended.output.contains("  newswire topics --create\n  newswire check\n  newswire run\n"))
        #expect(ended.output.contains("ok    settings  ./newswire.yaml has no problems"))
        #expect(!ended.output.contains("warn"))
    }

    @Test func `the sections that init comments out are sound too`() async throws {
        _ = try await paste("newswire init")
        let lines = try written.split(separator: "\n").map { line in
            // A commented setting is indented like YAML or begins with a key; a sentence begins with a capital letter.
            guard let text = line.prefixMatch(of: /# ( *(?:[a-z]\w*:|[A-Z]\w*: \{|- \{).*)/)?.1 else {
                return String(line)
            }
            return String(text)
        }
        #expect(lines.count { $0.hasPrefix("#") } < lines.count / 2)
        #expect(lines.contains("quiet:"))
        try lines.joined(separator: "\n").write(
            to: folder.appending(path: "newswire.yaml"), atomically: true, encoding: .utf8)
        let ended = try await paste("echo token > token; newswire check --offline --print", key)
        #expect(ended.status == 0)
        #expect(ended.output.contains("exceptUrgency: 2"))
        #expect(!ended.errors.contains("warn"), "\(ended.errors)")
    }

    @Test func `the README shows what init writes`() async throws {
        let repository = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        let sample = try String(
            contentsOf: repository.appending(path: "schemas/samples/newswire.yaml"), encoding: .utf8)
        let ended = try await paste("newswire init -")
        func settings(_ text: String) -> [String] {
            text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { line in
                String(line.prefixMatch(of: /(.*?) +#.*/)?.1 ?? line)
            }
        }
        #expect(settings(ended.output) == settings(sample))
    }

    @Test func `init overwrites nothing`() async throws {
        let ended = try await paste("echo mine > newswire.yaml; newswire init")
        #expect(ended.status == 1)
        #expect(ended.errors == "error: newswire.yaml exists already; name another file, or edit this one\n")
        #expect(try written == "mine\n")
    }

    @Test func `check prints JSON for a configuration that is missing or cannot be read`() async throws {
        let folder = FileManager.default.temporaryDirectory.path
        for path in ["/no/such/file.yaml", folder] {
            let ended = try await Program.run(["check", "--json", "--config", path])
            #expect(ended.status == 78)
            let object = try JSONSerialization.jsonObject(with: Data(ended.output.utf8)) as? [String: String]
            #expect(object?["severity"] == "fail" && object?["subject"] == "settings", "\(ended.output)")
            #expect(object?["message"]?.hasPrefix("\(path): ") == true && object?["remedy"] != nil, "\(ended.output)")
            #expect(ended.errors.contains(path))
        }
    }

    @Test func `init says that a folder is missing`() async throws {
        let ended = try await paste("newswire init none/newswire.yaml")
        #expect(ended.status == 1)
        #expect(
            ended.errors
                == "error: none/newswire.yaml cannot be written, because its folder does not exist; make it first\n")
    }

    @Test func `init names its file in the next commands if they would not find it`() async throws {
        let ended = try await paste("newswire init other.yaml")
        #expect(ended.output.contains("newswire check --config other.yaml\n"))
    }

    @Test func `the option comes before the variable, and the variable before the folder's file`() async throws {
        let script = """
            for name in newswire variable option; do newswire init - | sed "s/group: newswire/group: $name/" > $name.yaml; done
            newswire check --offline --print 2> /dev/null | grep group:
            NEWSWIRE_CONFIG=variable.yaml newswire check --offline --print 2> /dev/null | grep group:
            NEWSWIRE_CONFIG=variable.yaml newswire check --offline --print --config option.yaml 2> /dev/null | grep group:
            """
        let ended = try await paste(script, key)
        let groups = ended.output.split(separator: "\n").map { $0.split(separator: " ").dropFirst().first }
        #expect(groups == ["newswire", "variable", "option"])
    }

    @Test func `without any configuration the command says where it looked`() async throws {
        let ended = try await paste("newswire held")
        #expect(ended.status == 78)
        #expect(
            ended.errors == """
                error: there is no configuration: neither ./newswire.yaml nor /etc/newswire/newswire.yaml exists; name a file \
                with --config or in $NEWSWIRE_CONFIG, or write one with newswire init

                """)
    }

    @Test(arguments: [
        "held", "results", "redrive --dry-run", "topics", "publish --lane live -", "control", "audit", "runs",
        "send --category World --message Now --at 2999-01-01T00:00Z",
    ])
    func `a command that never calls the hub needs no key`(command: String) async throws {
        // The broker does not exist, so the command fails after it has accepted the settings.
        let ended = try await paste(
            "newswire init > /dev/null; newswire \(command) < /dev/null",
            ["NEWSWIRE_KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:1"])
        #expect(ended.status != 78)
        #expect(!ended.errors.contains("hub.connectionString"))
    }

    @Test func `a command that calls the hub needs its key`() async throws {
        let ended = try await paste("newswire init > /dev/null; newswire send --category World --message Now")
        #expect(ended.status == 78)
        #expect(ended.errors.contains("hub.connectionString"))
    }
}
