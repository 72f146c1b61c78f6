import Foundation
import HubEmulator
import HubServer
import KafkaIO
import NewsModel
import NotificationHub
import TestSupport
import Testing

/// Editors' orders with three processes and a broker in a separate process.
@Suite(.serialized, .ownThread)
struct EditorialFireTests {
    private let yaml = """
        lanes: {live: {topics: [news.events]}, backfill: {topics: [news.backfill]}}
        payload: {mode: native, platforms: [apple]}
        """

    /// The output of `recall`, `stop` and `resume` with `--json`.
    private struct Applied: Decodable {
        var scope: String
        var processes: Int
        var applied: Int
        var milliseconds: Int
        var missing: [Missing]
        struct Missing: Decodable {}
    }

    private func order(_ room: FireRoom, _ name: String, _ arguments: [String]) throws -> Applied {
        let command = try ChildProcess(
            "newswire", [name, "--config", room.configuration.path, "--json"] + arguments, in: room.folder)
        #expect(command.wait() == 0, "\(command.output)")
        let line = try #require(command.output.split(separator: "\n").first { $0.hasPrefix("{\"scope\"") })
        return try JSONDecoder().decode(Applied.self, from: Data(line.utf8))
    }

    /// Waits until the given number of deliveries have stored results.
    private func settle(_ room: FireRoom, _ count: Int) throws -> [ResultRecord] {
        let began = ContinuousClock.now
        while began.duration(to: .now) < .seconds(120) {
            let results = try room.results()
            if Set(results.map(\.coordinates)).count >= count { return results }
        }
        return try room.results()
    }

    private func alert(_ number: Int) -> String {
        #"{"id":"\#(number)","headline":"Headline \#(number).","category":"World","story":"missile"}"#
    }

    @Test(.enabled(if: isUnderFire, "\(underFireHint)"), .timeLimit(.minutes(5)))
    func `NHK 2018: an alert is withdrawn everywhere by one command, through a kill and a restart of all`()
        async throws
    {
        let events = 1_000
        let room = try await FireRoom(
            partitions: 6, topics: ["news.events", "news.backfill"], yaml + "\nrate: {perSecond: 50, burst: 1}")
        var processes = try (0..<3).map { _ in try room.run() }
        // Each of the three processes has partitions once some of its events were sent.
        try room.publish(1...events) { alert($0) }
        while room.hub.receivedCount < 100, processes.allSatisfy(\.isRunning) { moment() }

        let recall = try order(room, "recall", ["missile", "--reason", "wrong prepared message"])
        let sent = room.hub.receivedCount
        #expect(recall.scope == "recall/story/missile")
        #expect(recall.processes == 3 && recall.applied == 3 && recall.missing.isEmpty, "\(recall)")
        #expect(recall.milliseconds < 1_000)

        processes[0].signal(SIGKILL)
        processes[0].wait()
        // More events arrive later and on another lane, and other processes take over.
        try room.publish((events + 1)...(events + 60)) { alert($0) }
        try room.publish((events + 61)...(events + 120), to: "news.backfill") { alert($0) }
        for process in processes.dropFirst() { process.signal(SIGTERM) }
        for process in processes.dropFirst() { #expect(process.wait() == 0, "\(process.output.suffix(2000))") }
        processes = try (0..<3).map { _ in try room.run() }
        try room.publish((events + 121)...(events + 180)) { alert($0) }

        let results = try settle(room, events + 180)
        #expect(room.hub.receivedCount == sent)
        #expect(Set(results.map(\.coordinates)).count == events + 180)
        let outcomes = Dictionary(grouping: results, by: \.outcome).mapValues(\.count)
        #expect(Set(outcomes.keys).isSubset(of: [.accepted, .canceled]), "\(outcomes)")
        #expect(outcomes[.accepted] == sent)
        print("recall test: applied in \(recall.milliseconds) ms, \(sent) had been sent, \(outcomes)")
        for process in processes { process.signal(SIGTERM) }
        for process in processes { #expect(process.wait() == 0, "\(process.output.suffix(2000))") }
        await room.close()
    }

    @Test(.enabled(if: isUnderFire, "\(underFireHint)"), .timeLimit(.minutes(5)))
    func `a stop order under full load blocks every request, and after it nothing is lost or repeated`()
        async throws
    {
        let events = scale("NEWSWIRE_FIRE_STOP_EVENTS", 20_000)
        let room = try await FireRoom(
            // The first half lasts for seconds, so that the command comes in the middle, also on a slow machine.
            partitions: 6, topics: ["news.events", "news.backfill"], yaml + "\nrate: {perSecond: 2000}")
        let processes = try (0..<3).map { _ in try room.run() }
        try room.publish(1...(events / 2))
        while room.hub.receivedCount < events / 20, processes.allSatisfy(\.isRunning) { moment() }

        let stop = try order(room, "stop", ["hub", "--reason", "drill"])
        let sent = room.hub.receivedCount
        #expect(stop.applied == 3 && stop.processes == 3, "\(stop)")
        #expect(sent < events / 2)
        let stopped = ContinuousClock.now
        try room.publish((events / 2 + 1)...events)
        while stopped.duration(to: .now) < .seconds(scale("NEWSWIRE_FIRE_STOP_SECONDS", 10)) { moment() }
        // Requests in flight, at most one per connection, may still have arrived.
        #expect(room.hub.receivedCount - sent <= 3 * 64)

        let resume = try order(room, "resume", ["hub"])
        #expect(resume.applied == 3, "\(resume)")
        let results = try settle(room, events)
        let numbers = try room.hub.received.map { try number(of: $0) }
        #expect(Set(numbers).count == events)
        #expect(numbers.count == events)
        #expect(results.count == events)
        #expect(results.allSatisfy { $0.outcome == .accepted })
        print("stop test: stopped in \(stop.milliseconds) ms at \(sent), resumed in \(resume.milliseconds) ms")
        for process in processes { process.signal(SIGTERM) }
        for process in processes { #expect(process.wait() == 0, "\(process.output.suffix(2000))") }
        await room.close()
    }
}
