import Foundation
import HubServer
import KafkaIO
import NewsModel
import Testing

/// A lane that the flood guard has stopped, and the command that releases it.
struct ReleaseTests {
    /// Bad events, then good ones.
    private func flooded(_ room: ProgramRoom) async throws -> (Program.Running, address: String) {
        let bad = (0..<30).map { #"{"id":"bad-\#($0)","headline":"h","category":"Nowhere"}"# }
        let good = (0..<5).map { #"{"id":"good-\#($0)","headline":"h","category":"World"}"# }
        // One partition, so that the good events come after the bad ones.
        _ = try await room.run("publish", "-", input: (bad + good).joined(separator: "\n"))
        let settings = [
            "NEWSWIRE_HTTP_LISTEN": "127.0.0.1:0", "NEWSWIRE_FLOOD_GUARD_EVENTS": "20",
            "NEWSWIRE_LANES_LIVE_WINDOW_RECORDS": "16",
        ]
        let running = try Program.start(
            ["run", "--config", room.path("newswire.yaml")], environment: room.environment.merging(settings) { $1 })
        let served = try await running.wrote("status served")
        try await running.wrote("flood")
        return (running, String(try #require(served.firstMatch(of: /127.0.0.1:[0-9]+/)).output))
    }

    private func outcomes(_ room: ProgramRoom, _ count: Int) async throws -> [Outcome: Int] {
        let follower = try TopicReader(
            settings: room.broker.settings(group: "test"), topic: "news.results", follow: true)
        var outcomes: [Outcome: Int] = [:]
        while outcomes.values.reduce(0, +) < count {
            for read in try follower.next(timeout: .milliseconds(50)) {
                outcomes[try ResultRecord(decoding: try #require(read.record.value)).outcome, default: 0] += 1
            }
            // The hub in this process needs this thread too.
            await Task.yield()
        }
        return outcomes
    }

    @Test func `a released lane sends what waits, and failing events end one by one`() async throws {
        let names = ["events", "results", "dead-letters", "control", "audit"]
        let room = try await ProgramRoom(topics: names.map { ("news.\($0)", 1) })
        let (running, address) = try await flooded(room)
        let released = try await room.run(
            "release", "--lane", "live", "--process", address, "--json", "--by", "ops", "--reason", "mended")
        #expect(released.status == 0, "\(released.errors)")
        #expect(
            released.output
                == #"{"process":"\#(address)","lane":"live","waiting":"send","released":true}"# + "\n")
        let audit = try await room.run("audit")
        let line = audit.output.split(separator: "\n").first { $0.contains("release lane live") }
        #expect(line?.contains("ops") == true && line?.contains("mended") == true, "\(audit.output)\(audit.errors)")
        #expect(try await outcomes(room, 35) == [.unroutable: 30, .accepted: 5])

        let again = try await room.run("release", "--lane", "live", "--process", address, "--json")
        #expect(again.status == 1)
        #expect(again.output.contains(#""released":false,"problem":"Lane live is not stopped"#), "\(again.output)")
        #expect(again.errors.contains("Lane live is not stopped by the flood guard."))
        running.terminate()
        #expect(try await running.ended().status == 0)
        await room.close()
    }

    @Test func `waiting records can become dead letters instead, and redrive returns them`() async throws {
        let room = try await ProgramRoom(
            topics: [("news.events", 1), ("news.results", 1), ("news.dead-letters", 1)])
        let (running, address) = try await flooded(room)
        let released = try await room.run("release", "--lane", "live", "--dead-letter", "--at", address)
        #expect(released.status == 0, "\(released.errors)")
        #expect(released.output == "\(address): lane live released; what waits goes to the dead letters\n")
        #expect(released.errors.contains("warning: this release is not recorded. Topic news.audit does not exist"))
        #expect(try await outcomes(room, 35) == [.unroutable: 30, .exhausted: 5])
        #expect(room.hub.receivedCount == 0)
        let redriven = try await room.run("redrive", "--outcome", "exhausted")
        #expect(redriven.status == 0, "\(redriven.errors)")
        #expect(try await outcomes(room, 40)[.accepted] == 5)
        running.terminate()
        #expect(try await running.ended().status == 0)
        await room.close()
    }

    @Test func `an unreachable process and an unknown lane are reported`() async throws {
        let room = try await ProgramRoom()
        let nobody = try await room.run("release", "--lane", "live", "--at", "127.0.0.1:1")
        #expect(nobody.status == 1)
        #expect(nobody.errors.contains("127.0.0.1:1: does not answer"))
        let noLane = try await room.run("release", "--lane", "lives", "--at", "127.0.0.1:1")
        #expect(noLane.status == 64)
        #expect(noLane.errors.contains("Did you mean live?"))
        await room.close()
    }
}
