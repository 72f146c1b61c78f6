import Foundation
import HubEmulator
import HubServer
import HubTelemetry
import KafkaIO
import KafkaModel
import NewsModel
import NewswireCommands
import NotificationHub
import Testing

/// Follows accepted sends with the program, up to the hub's telemetry about them.
struct TelemetryCommandTests {
    private static let topics = [
        ("news.events", 2), ("news.results", 2), ("news.dead-letters", 2), ("news.control", 1), ("news.audit", 1),
        ("news.held", 2), ("news.telemetry", 2),
    ]

    /// - Parameter telemetry: the delays of the hub's telemetry.
    private static func room(_ telemetry: TelemetryTimes = TelemetryTimes(), tier: Tier = .standard) async throws
        -> ProgramRoom
    {
        var hub = HubServerSettings(port: 0, hubName: try HubName("breaking-news"))
        // Three devices for each of a thousand tags.
        hub.devices = 3_000
        hub.configure = { ($0.telemetry, $0.tier) = (telemetry, tier) }
        let room = try await ProgramRoom(topics: topics, hub: hub)
        let file = room.folder.appending(path: "newswire.yaml")
        let text = try String(contentsOf: file, encoding: .utf8)
        try room.write(
            text + "\ncategories: {World: {tag: tag-7}}"
                + "\ntelemetry: {topic: news.telemetry, perSecond: 200, listen: off}\n", to: "newswire.yaml")
        return room
    }

    private static func events(_ count: Int) -> String {
        (0..<count).map { #"{"id":"e\#($0)","headline":"h","category":"World"}"# }.joined(separator: "\n")
    }

    private static func records(_ room: ProgramRoom) throws -> [TelemetryRecord] {
        let settings = KafkaSettings(bootstrapServers: room.broker.bootstrapServers, group: "test")
        let reader = try TopicReader(settings: settings, topic: "news.telemetry")
        var records: [TelemetryRecord] = []
        while !reader.isAtEnd {
            for read in try reader.next() {
                let record = try TelemetryRecord(decoding: read.record.value ?? [])
                #expect(read.record.key == Array(record.eventID.utf8))
                records.append(record)
            }
        }
        return records
    }

    @Test func `telemetry records agree with the hub, and are joined to the results`() async throws {
        let room = try await Self.room()
        _ = try await room.run("publish", "-", input: Self.events(40))
        let sent = try await room.run("run", "--until-caught-up")
        #expect(sent.status == 0, "\(sent.errors)")
        let asked = try await room.run("telemetry", "--until-caught-up", "--log-level", "debug")
        #expect(asked.status == 0, "\(asked.errors)")
        // Anybody who knows an id may ask about the send, so ids must not be printed.
        for message in room.hub.received { #expect(!(asked.errors + asked.output).contains(message.id)) }
        #expect(!asked.errors.contains("sig="))

        let records = try Self.records(room)
        let own = room.hub.received.map(\.telemetry)
        let devices = own.flatMap(\.counts).reduce(0) { $0 + $1.count }
        #expect(records.count == 40 && devices > 40)
        #expect(records.allSatisfy { $0.isFinal && $0.state == .completed })
        #expect(records.reduce(0) { $0 + $1.successes } == Int64(devices))

        let json = try await room.run("results", "--with-telemetry", "--json")
        let lines = json.output.split(separator: "\n")
        #expect(lines.count == 40 && lines.allSatisfy { $0.contains(#""telemetry":{"eventId":"e"#) })
        let first = try #require(lines.first)
        #expect(try JSONSerialization.jsonObject(with: Data(first.utf8)) is NSDictionary)
        #expect(json.errors.contains("devices reached by 40 sends"), "\(json.errors)")
        let table = try await room.run("results", "--with-telemetry", "--tail", "3")
        #expect(table.output.contains("reached") && table.output.contains(" of "))
        await room.close()
    }

    @Test func `a killed process continues where it was, and no record changes its meaning`() async throws {
        var times = TelemetryTimes()
        times.processingMilliseconds = 25_000
        let room = try await Self.room(times)
        _ = try await room.run("publish", "-", input: Self.events(60))
        #expect(try await room.run("run", "--until-caught-up").status == 0)
        let running = try room.start("telemetry")
        // The first polls find the hub at work.
        while try Self.records(room).count < 60 {}
        running.signal(SIGKILL)
        _ = try await running.ended()
        let again = try await room.run("telemetry", "--until-caught-up")
        #expect(again.status == 0, "\(again.errors)")
        let records = try Self.records(room)
        let finals = Dictionary(grouping: records.filter(\.isFinal), by: \.send)
        #expect(finals.count == 60)
        let devices = room.hub.received.flatMap(\.telemetry.counts).reduce(0) { $0 + $1.count }
        let last = finals.values.compactMap(\.last)
        #expect(last.allSatisfy { $0.state == .completed })
        #expect(last.reduce(0) { $0 + $1.targets } == Int64(devices))
        for told in Dictionary(grouping: records, by: { [AnyHashable($0.send), $0.attempt] }).values {
            for (one, next) in zip(told, told.dropFirst()) { #expect(next.supersedes(one)) }
        }
        await room.close()
    }

    @Test func `a hub that refuses questions is reported, and the process keeps running`() async throws {
        let room = try await Self.room()
        var fault = HubFault()
        (fault.status, fault.calls) = (403, .telemetry)
        room.hub.add(fault)
        _ = try await room.run("publish", "-", input: Self.events(3))
        #expect(try await room.run("run", "--until-caught-up").status == 0)
        let running = try room.start("telemetry")
        let line = try await running.wrote("Standard tier")
        #expect(line.contains("the hub does not tell what became of sends"), "\(line)")
        running.terminate()
        let ended = try await running.ended()
        #expect(ended.status == 0, "\(ended.errors)")
        #expect(ended.errors.components(separatedBy: "Standard tier").count == 2)
        await room.close()
    }

    @Test func `a missing section or topic is reported with its remedy`() async throws {
        let room = try await ProgramRoom()
        let unset = try await room.run("telemetry")
        #expect(unset.status == 78 && unset.errors.contains("telemetry: is missing"), "\(unset.errors)")
        let file = room.folder.appending(path: "newswire.yaml")
        let text = try String(contentsOf: file, encoding: .utf8)
        try room.write(text + "\ntelemetry: {topic: news.telemetry, listen: off}\n", to: "newswire.yaml")
        let missing = try await room.run("telemetry")
        #expect(missing.status == 1 && missing.errors.contains("topics --create"), "\(missing.errors)")
        let nowhere = text.replacingOccurrences(of: room.broker.bootstrapServers[0], with: "127.0.0.1:1")
        try room.write(nowhere + "\ntelemetry: {topic: news.telemetry, listen: off}\n", to: "newswire.yaml")
        let job = try await room.run("telemetry", "--until-caught-up")
        #expect(job.status == 1 && job.errors.contains("error:"), "a job that cannot begin is not to hang")
        let wrong = try await room.run("results", "--with-telemetry", "--follow")
        #expect(wrong.status == 64 && wrong.errors.contains("--with-telemetry"), "\(wrong.errors)")
        await room.close()
    }
}
