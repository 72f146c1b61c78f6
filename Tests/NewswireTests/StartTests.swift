import Foundation
import HubServer
import KafkaIO
import NotificationHub
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// `newswire run` with brokers, topics or files that are missing at the start.
struct StartTests {
    private struct Readiness: Decodable {
        var ready: Bool
        var reasons: [Reason]

        struct Reason: Decodable {
            var code: String
            var remedy: String?
        }
    }

    private func started(_ room: ProgramRoom) async throws -> (Program.Running, address: String) {
        let running = try Program.start(
            ["run", "--config", room.path("newswire.yaml")],
            environment: room.environment.merging(["NEWSWIRE_HTTP_LISTEN": "127.0.0.1:0"]) { $1 })
        let served = try await running.wrote("status served")
        return (running, String(try #require(served.firstMatch(of: /http:\/\/127.0.0.1:[0-9]+/)).output))
    }

    private func get(_ address: String, _ path: String) async throws -> (status: Int?, body: Data) {
        let url = try #require(URL(string: address + path))
        let (body, response) = try await URLSession.shared.data(from: url)
        return ((response as? HTTPURLResponse)?.statusCode, body)
    }

    private func deliver(_ room: ProgramRoom) async throws {
        _ = try await room.run("publish", "-", input: #"{"id":"1","headline":"One","category":"World"}"#)
        while room.hub.receivedCount == 0 { await Task.yield() }
    }

    @Test func `a process without its broker is not ready, reports why, and starts once the broker is there`()
        async throws
    {
        let room = try await ProgramRoom()
        room.broker.setDown()
        let (running, address) = try await started(room)
        #expect(try await running.wrote("waiting to start").contains("cannot be reached"))
        #expect(try await get(address, "/healthz").status == 200)
        let (status, body) = try await get(address, "/readyz")
        #expect(status == 503)
        #expect(try JSONDecoder().decode(Readiness.self, from: body).reasons.map(\.code) == ["kafka"])

        room.broker.setUp()
        try await running.wrote("brokers and topics are there")
        try await deliver(room)
        running.terminate()
        #expect(try await running.ended().status == 0)
        await room.close()
    }

    @Test func `a process without its results topic waits until someone creates it`() async throws {
        let room = try await ProgramRoom(topics: [("news.events", 2), ("news.dead-letters", 2)])
        let (running, address) = try await started(room)
        #expect(try await running.wrote("waiting to start").contains("topics --create"))
        let reasons = try JSONDecoder().decode(Readiness.self, from: try await get(address, "/readyz").body).reasons
        #expect(reasons.map(\.code) == ["missing-topic"])
        #expect(reasons.first?.remedy?.contains("topics --create") == true)

        try room.broker.create(topic: "news.results", partitions: 2)
        try await deliver(room)
        running.terminate()
        #expect(try await running.ended().status == 0)
        await room.close()
    }

    @Test func `a waiting process ends at once when it is told to`() async throws {
        let room = try await ProgramRoom()
        room.broker.setDown()
        let (running, _) = try await started(room)
        running.terminate()
        #expect(try await running.ended().status == 0)
        await room.close()
    }

    @Test func `a run with --until-caught-up fails instead of waiting`() async throws {
        let room = try await ProgramRoom(topics: [("news.results", 2), ("news.dead-letters", 2)])
        let ended = try await room.run("run", "--until-caught-up")
        #expect(ended.status == 1)
        #expect(ended.errors.contains("topics --create"))
        await room.close()
    }

    /// With 24 files SwiftNIO traps. With 64 the service would run and send nothing.
    @Test(arguments: [24, 64, 80]) func `a process does not start with fewer files than its settings need`(files: Int)
        async throws
    {
        let room = try await ProgramRoom()
        let settings = try String(contentsOfFile: room.path("newswire.yaml"), encoding: .utf8)
            .replacing("${BROKERS}", with: room.broker.bootstrapServers.joined(separator: ","))
            .replacing("${HUB}", with: room.hub.connectionString.revealed)
        try room.write(settings, to: "newswire.yaml")
        let running = try Program.start(
            ["run", "--config", room.path("newswire.yaml")], after: ["ulimit -n \(files)"])
        let ended = try await running.ended()
        #expect(ended.status == 78)
        #expect(ended.errors.contains("may open \(files) files, and these settings need "), "\(ended.errors)")
        await room.close()
    }

    @Test func `properties that Kafka's library refuses are a wrong configuration`() async throws {
        let room = try await ProgramRoom()
        let settings = try String(contentsOfFile: room.path("newswire.yaml"), encoding: .utf8)
        let properties = "properties: {security.protocol: SSL, ssl.ca.location: /nowhere, "
        try room.write(settings.replacing("properties: {", with: properties), to: "newswire.yaml")
        let ended = try await room.run("run")
        #expect(ended.status == 78, "\(ended.errors)")
        await room.close()
    }

    @Test(arguments: [0, 1, 5, 20])
    func `a reload requested too early does not end the process`(milliseconds: UInt32) async throws {
        let room = try await ProgramRoom()
        let running = try Program.start(
            ["run", "--config", room.path("newswire.yaml")], environment: room.environment)
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                // The moment itself is tested, and nothing signals it.
                usleep(milliseconds * 1_000)
                running.signal(SIGHUP)
                continuation.resume()
            }
        }
        try await running.wrote("started")
        running.terminate()
        #expect(try await running.ended().status == 0)
        await room.close()
    }
}
