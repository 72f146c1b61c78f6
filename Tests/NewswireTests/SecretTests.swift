import Foundation
import HubServer
import KafkaIO
import NewsModel
import NotificationHub
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Part of every secret in these tests.
private let canary = "canary"

/// Everything the program wrote, served or stored, to be searched for secrets.
private struct Findings {
    var texts: [String] = []

    mutating func add(_ ended: Program.Ended) { texts += [ended.output, ended.errors] }

    func check() {
        // The canary as plain text, and in base64 at each of the three offsets.
        let forms = [canary, "Y2FuYXJ5", "NhbmFye", "jYW5hcn"]
        for text in texts {
            for form in forms where text.lowercased().contains(form.lowercased()) {
                let line = text.split(separator: "\n").first { $0.lowercased().contains(form.lowercased()) }
                Issue.record("a secret occurs in: \(line ?? "")")
            }
            // No text may contain a signature made with the key.
            #expect(text.firstMatch(of: /sig=[A-Za-z0-9%]{20}/) == nil)
        }
    }
}

private let configuration = """
    kafka:
      bootstrapServers: ${BROKERS}
      properties:
        session.timeout.ms: 6000
        debug: all
        log_level: 7
        sasl.username: newswire
        sasl.password: canary-sasl-password
        ssl.key.password: canary-key-password
        ssl.keystore.password: canary-store-password
        sasl.oauthbearer.config: canary-oauth
    lanes: {live: {topics: [news.events]}}
    hub: {connectionString: "${HUB}", name: breaking-news}
    http: {listen: "127.0.0.1:0", token: canary-token}
    tracing: {otlp: {endpoint: "http://127.0.0.1:1", headers: {authorization: Bearer canary-collector}}}
    logging: {level: debug}

    """

struct SecretTests {
    private func room() async throws -> ProgramRoom {
        let text = "Endpoint=http://127.0.0.1:8090/;SharedAccessKeyName=send;SharedAccessKey=canary-hub-key-0123456789"
        let settings = HubServerSettings(
            port: 0, hubName: try HubName("breaking-news"), connectionString: try ConnectionString(parsing: text))
        return try await ProgramRoom(hub: settings)
    }

    @Test func `no secret is ever written, logged, served or stored by a publisher at work`() async throws {
        let room = try await room()
        try room.write(configuration, to: "newswire.yaml")
        let events = [
            #"{"id":"1","headline":"One","category":"World"}"#, "{", #"{"id":"3","headline":"h","category":"None"}"#,
        ]
        var findings = Findings()
        findings.add(try await room.run("publish", "-", input: events.joined(separator: "\n")))
        let running = try Program.start(["run", "--config", room.path("newswire.yaml")], environment: room.environment)
        let served = try await running.wrote("status served")
        let address = try #require(served.firstMatch(of: /http:\/\/127.0.0.1:[0-9]+/)).output
        try await running.wrote("delivery settled")
        for path in ["/", "/metrics", "/healthz", "/readyz", "/api/status", "/api/results", "/nowhere"] {
            let url = try #require(URL(string: address + path))
            findings.texts.append(String(decoding: try await URLSession.shared.data(from: url).0, as: UTF8.self))
        }
        for token in ["canary-token", "canary-wrong"] {
            var request = URLRequest(url: try #require(URL(string: address + "/api/lanes/live/pause")))
            request.httpMethod = "POST"
            request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
            let (data, response) = try await URLSession.shared.data(for: request)
            #expect((response as? HTTPURLResponse)?.statusCode == (token == "canary-token" ? 200 : 401))
            findings.texts.append(String(decoding: data, as: UTF8.self))
        }
        try room.write(configuration.replacing("level: debug", with: "level: canary-level"), to: "newswire.yaml")
        running.signal(SIGHUP)
        try await running.wrote("reload refused")
        running.terminate()
        let ended = try await running.ended()
        #expect(ended.errors.contains("librdkafka") && ended.errors.contains("spans are not exported"))
        // A wrong value that is not secret may be quoted.
        findings.texts += [ended.output, ended.errors.replacing("canary-level", with: "")]
        try room.write(configuration, to: "newswire.yaml")
        findings.add(try await room.run("results", "--json"))
        findings.check()
        await room.close()
    }

    @Test func `no secret is written while hub, broker or collector refuse or cannot be reached`() async throws {
        let room = try await room()
        try room.write(configuration, to: "newswire.yaml")
        _ = try await room.run("publish", "-", input: #"{"id":"1","headline":"One","category":"World"}"#)
        var findings = Findings()
        let wrongKey = room.environment.merging([
            "HUB": room.hub.connectionString.revealed.replacing("canary-hub-key", with: "canary-other-key")
        ]) { $1 }
        let away = room.environment.merging([
            "HUB": "Endpoint=http://127.0.0.1:1/;SharedAccessKeyName=send;SharedAccessKey=canary-hub-key"
        ]) { $1 }
        for environment in [wrongKey, away] {
            let path = room.path("newswire.yaml")
            let running = try Program.start(["run", "--config", path], environment: environment)
            try await running.wrote("sending halted")
            running.terminate()
            findings.add(try await running.ended())
            findings.add(try await Program.run(["check", "--config", path], environment: environment))
            findings.add(
                try await Program.run(
                    ["send", "--config", path, "--category", "World", "--message", "m", "--dry-run"],
                    environment: environment))
        }
        // A broker without SASL, and no broker at all.
        let sasl = configuration.replacing(
            "properties:\n", with: "properties:\n    security.protocol: SASL_PLAINTEXT\n    sasl.mechanisms: PLAIN\n")
        try room.write(sasl, to: "newswire.yaml")
        findings.add(try await room.run("check"))
        let nobody = room.environment.merging(["BROKERS": "127.0.0.1:1"]) { $1 }
        let waiting = try Program.start(["run", "--config", room.path("newswire.yaml")], environment: nobody)
        try await waiting.wrote("waiting to start")
        waiting.terminate()
        findings.add(try await waiting.ended())
        findings.check()
        await room.close()
    }

    @Test(arguments: [
        configuration,
        configuration.replacing("token: canary-token", with: "tokn: canary-token"),
        configuration.replacing("{listen: \"127.0.0.1:0\", token: canary-token}", with: "canary-token"),
        configuration.replacing("token: canary-token", with: "token: [canary-token]"),
        configuration.replacing("sasl.password: ", with: "sasl.pasword: "),
        configuration.replacing("sasl.password: ", with: "security.protocol: "),
        configuration.replacing("ssl.key.password: canary-key-password", with: "ssl.key.pem: canary-key"),
        configuration.replacing("\"${HUB}\"", with: "\"Endpoint=http://h/;SharedAccessKey=canary\""),
        configuration.replacing("\"${HUB}\"", with: "\"canary\""),
        configuration.replacing("name: breaking-news", with: "name: \"${HUB}\""),
        configuration.replacing("http://127.0.0.1:1", with: "http://user:canary@127.0.0.1:1"),
        configuration.replacing("perSecond", with: "x")
            + "rate: {perSecond: \"${HUB}\"}\nresults: {topic: \"${HUB}\"}\n",
    ])
    func `no secret in any wrong place is written by a check`(text: String) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "secrets-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "newswire.yaml")
        try Data(text.utf8).write(to: file)
        let environment = [
            "HUB": "Endpoint=http://h/;SharedAccessKeyName=send;SharedAccessKey=canary-hub-key",
            "BROKERS": "127.0.0.1:1",
        ]
        var findings = Findings()
        findings.add(
            try await Program.run(["check", "--config", file.path, "--offline", "--print"], environment: environment))
        findings.check()
    }
}
