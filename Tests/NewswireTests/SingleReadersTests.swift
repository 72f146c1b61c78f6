import Foundation
import HubEmulator
import HubServer
import KafkaIO
import KafkaModel
import NewsModel
import NotificationHub
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// News for single readers, with everything running: two readers with two devices each.
struct SingleReadersTests {
    /// Part of every reader's id in these tests.
    private static let canary = "canary"
    private static let devices = [
        ("A1", "anna-canary"), ("A2", "anna-canary"), ("B1", "ben/canary"), ("B2", "ben/canary"),
    ]
    private static let topics = [
        ("news.events", 2), ("news.results", 2), ("news.dead-letters", 2), ("news.control", 1), ("news.audit", 1),
        ("news.held", 2),
    ]
    private static let configuration = """
        kafka:
          bootstrapServers: ${BROKERS}
          properties: {session.timeout.ms: 6000, fetch.wait.max.ms: 10}
        lanes: {live: {topics: [news.events]}}
        hub: {connectionString: "${HUB}", name: breaking-news}
        payload: {templates: {normal: breakingNews, quiet: breakingNewsQuiet}, message: "{{headline}}"}
        unroutable: World
        test: {tag: staff}
        http: {listen: "127.0.0.1:0"}
        logging: {level: debug}

        """

    private func room() async throws -> ProgramRoom {
        let room = try await ProgramRoom(topics: Self.topics)
        try room.write(Self.configuration, to: "newswire.yaml")
        return room
    }

    private func device(_ room: ProgramRoom, _ handle: String, _ more: String...) throws -> Program.Running {
        try Program.start(
            [
                "device", "--connection-string", try #require(room.hub.listenConnectionString).revealed, "--hub",
                "breaking-news", "--handle", handle,
            ] + more)
    }

    private func event(_ id: String, _ headline: String, _ users: [String], _ more: String = "") -> String {
        let list = users.map { "\"\($0)\"" }.joined(separator: ",")
        return #"{"id":"\#(id)","headline":"\#(headline)","users":[\#(list)]\#(more)}"#
    }

    /// Everything on a topic: keys, headers, and values where they are ours.
    private func texts(on topic: String, _ room: ProgramRoom, values: Bool) throws -> [String] {
        let reader = try TopicReader(settings: room.broker.settings(group: "test"), topic: topic)
        var texts: [String] = []
        while !reader.isAtEnd {
            for read in try reader.next(timeout: .milliseconds(100)) {
                let bytes = [read.record.key, values ? read.record.value : nil] + read.record.headers.map(\.value)
                texts += bytes.compactMap { $0.map { String(decoding: $0, as: UTF8.self) } }
                texts += read.record.headers.map(\.name)
            }
        }
        return texts
    }

    @Test func `each reader gets its own news and nobody else's, and no output names a reader`() async throws {
        let room = try await room()
        let phones =
            try Self.devices.map { try device(room, $0.0, "--user", $0.1) } + [
                try device(room, "C1", "--categories", "World"),
                try Program.start([
                    "device", "--connection-string", room.hub.connectionString.revealed, "--hub", "breaking-news",
                    "--handle", "D1", "--categories", "staff",
                ]),
            ]
        for phone in phones { try await phone.wrote("registered for") }
        let running = try room.start("run")
        let served = try await running.wrote("status served")
        let address = try #require(served.firstMatch(of: /http:\/\/127.0.0.1:[0-9]+/)).output
        let events = [
            event("1", "For Anna.", ["anna-canary"]), event("2", "For Ben.", ["ben/canary"], #","category":"World""#),
            event("3", "For both.", ["anna-canary", "ben/canary"], #","story":"s""#),
            event("4", "For nobody.", [], #","category":"World""#),
            event("5", "For a crowd.", (0..<21).map { "canary-\($0)" }, #","category":"World""#),
            event("6", "For six.", (0..<5).map { "canary-\($0)" } + ["ben/canary"], #","category":"World""#),
            event("7", "A rehearsal.", ["anna-canary"], #","test":true"#),
            #"{"id":"8","headline":"For all.","category":"World"}"#,
        ]
        var outputs: [String] = []
        func add(_ ended: Program.Ended) { outputs += [ended.output, ended.errors] }
        // 'publish' refuses the fourth and the fifth event, but other senders may not refuse them.
        let refused = try await room.run("publish", "-", input: events[3...4].joined(separator: "\n"))
        #expect(refused.status == 1)
        add(refused)
        let publisher = try RecordPublisher(settings: room.broker.settings(group: "test"))
        for (index, event) in events.enumerated() {
            try publisher.publish(
                ProducedRecord(topic: "news.events", key: Array("key-\(index)".utf8), value: Array(event.utf8)))
        }
        try publisher.flush()
        var settled = 0
        while settled < events.count {
            let results = try await room.run("results", "--json")
            settled = results.output.split(separator: "\n").count
            if settled == events.count { add(results) }
        }
        for path in ["/", "/metrics", "/healthz", "/readyz", "/api/status", "/api/results"] {
            let url = try #require(URL(string: address + path))
            outputs.append(String(decoding: try await URLSession.shared.data(from: url).0, as: UTF8.self))
        }
        add(try await room.run("recall", "s", "--reason", "wrong", "--replace", "Withdrawn.", "--json"))
        for arguments in [["audit"], ["control"], ["held"], ["results"]] {
            add(
                try await Program.run(
                    arguments + ["--config", room.path("newswire.yaml")], environment: room.environment))
        }
        try room.write(events.joined(separator: "\n"), to: "events.ndjson")
        let explained = try await room.run("explain", room.path("events.ndjson"), "--json")
        add(explained)
        add(try await room.run("explain", room.path("events.ndjson")))
        let rehearsed = try await room.run("publish", "--dry-run", room.path("events.ndjson"))
        #expect(
            rehearsed.output.contains("among these are for single readers"), "\(rehearsed.output)\(rehearsed.errors)")
        add(rehearsed)
        let open = try await room.run("explain", room.path("events.ndjson"), "--json", "--show-users")
        for phone in phones.prefix(4) { #expect(try await phone.printed("Withdrawn.").contains("Withdrawn.")) }
        running.terminate()
        add(try await running.ended())

        // Checks which texts arrived on which phone.
        let wanted = [["For Anna.", "For both."], ["For Ben.", "For both.", "For six."]].flatMap { [$0, $0] }
        for (phone, wanted) in zip(phones, wanted + [["For all."], ["TEST A rehearsal."]]) {
            phone.terminate()
            let ended = try await phone.ended()
            let texts = ended.output.matches(of: /(TEST )?(For|A|Withdrawn)[a-zA-Z ]*\./).map { String($0.output.0) }
            // Stories on different partitions leave in any order.
            let all = wanted + (wanted.contains("For both.") ? ["Withdrawn."] : [])
            #expect(texts.sorted() == all.sorted(), "\(ended.errors)")
            add(ended)
        }

        // Collects everything that was written about the events.
        outputs += try texts(on: "news.results", room, values: true)
        outputs += try texts(on: "news.audit", room, values: true)
        outputs += try texts(on: "news.control", room, values: true)
        outputs += try texts(on: "news.dead-letters", room, values: false)
        for text in outputs where text.contains(Self.canary) {
            let line = text.split(separator: "\n").first { $0.contains(Self.canary) }
            Issue.record("a reader is named in: \(line ?? "")")
        }
        let codes = outputs.flatMap { $0.matches(of: /"code":"([a-z-]+)"/).map { String($0.output.1) } }
        #expect(Set(codes) == ["bad-users"])
        #expect(outputs.contains { $0.contains(#""users":["#) })
        #expect(explained.output.contains(#""tagExpression":"user:"#))
        #expect(open.output.contains("$UserId:{anna-canary} && breakingNews"))
        // By contract, the dead letters are the events as they came.
        #expect(try texts(on: "news.dead-letters", room, values: true).contains { $0.contains(Self.canary) })
        await room.close()
    }

    @Test(arguments: [
        ["--user", ""], ["--user", "anna", "--registrations"], ["--user", "anna", "--categories", ","], [],
    ])
    func `a device needs categories or a reader`(arguments: [String]) async throws {
        let ended = try await Program.run(
            [
                "device", "--connection-string", "Endpoint=http://h/;SharedAccessKeyName=l;SharedAccessKey=k", "--hub",
                "h",
            ]
                + arguments)
        #expect(ended.status == 64)
    }

    @Test func `a hub that protects tags does not let an app claim a reader`() async throws {
        var settings = HubServerSettings(port: 0, hubName: try HubName("breaking-news"))
        settings.configure = { $0.protectsTags = true }
        let room = try await ProgramRoom(hub: settings)
        let ended = try await device(room, "A1", "--user", "anna").ended()
        #expect(ended.status == 1)
        #expect(ended.errors.contains("for --user"), "\(ended.errors)")
        #expect(room.hub.registrationCount == 0)
        await room.close()
    }
}
