import ByteText
import Foundation
import HubEmulator
import HubServer
import KafkaIO
import NewsModel
import NotificationHub
import TestSupport
import Testing

@Suite(.serialized, .ownThread)
struct KillTests {
    /// Reads results until no further one arrives for a moment.
    private func drain(_ reader: TopicReader, into settled: inout [SourceCoordinates: Int]) throws {
        while true {
            let read = try reader.next(timeout: .milliseconds(300))
            if read.isEmpty { return }
            try count(read, into: &settled)
        }
    }

    private func count(_ read: [TopicReader.ReadRecord], into settled: inout [SourceCoordinates: Int]) throws {
        for one in read {
            settled[try ResultRecord(decoding: try #require(one.record.value)).coordinates, default: 0] += 1
        }
    }

    @Test(.enabled(if: isUnderFire, "\(underFireHint)"), .timeLimit(.minutes(15)))
    func `a publisher killed repeatedly loses nothing and repeats only requests in flight`() async throws {
        let events = scale("NEWSWIRE_FIRE_EVENTS", 50_000)
        let kills = scale("NEWSWIRE_FIRE_KILLS", 20)
        var chance = SeededRandom(seed: UInt64(scale("NEWSWIRE_FIRE_SEED", 7)))
        let room = try await FireRoom(
            partitions: 16,
            """
            lanes: {live: {topics: [news.events]}}
            payload: {mode: native, platforms: [apple]}
            rate: {perSecond: unlimited}
            """)
        try room.publish(1...events)

        let began = ContinuousClock.now
        let follower = try TopicReader(settings: room.kafka, topic: "news.results", follow: true)
        var settled: [SourceCoordinates: Int] = [:]
        var unacknowledged: [Int] = []
        for _ in 0..<kills {
            let running = try room.run()
            // The target lies between the first sends of this process and the middle of its work.
            let target = room.hub.receivedCount + Int.random(in: 1...(2 * events / (kills + 4)), using: &chance)
            while room.hub.receivedCount < min(target, events) {
                try count(try follower.next(timeout: .milliseconds(1)), into: &settled)
            }
            running.signal(SIGKILL)
            running.wait()
            try drain(follower, into: &settled)
            unacknowledged.append(room.hub.receivedCount - settled.count)
        }
        let last = try room.run("--until-caught-up")
        #expect(last.wait() == 0, "\(last.output.suffix(2000))")
        // The whole topic is read again, because the follower may have paused before the end.
        settled = [:]
        let whole = try TopicReader(settings: room.kafka, topic: "news.results")
        while !whole.isAtEnd { try count(try whole.next(), into: &settled) }

        var copies: [Int: [String]] = [:]
        for message in room.hub.received {
            let collapse = message.headers.first { $0.name.lowercased() == "apns-collapse-id" }?.value
            copies[try number(of: message), default: []].append(try #require(collapse))
        }
        let repeats = room.hub.receivedCount - copies.count
        let extraResults = settled.values.reduce(0) { $0 + $1 - 1 }
        print(
            """
            kill test: \(events) events, \(kills) kills in \(began.duration(to: .now)); repeats \(repeats), \
            requests whose result a kill took \
            \(zip(unacknowledged, [0] + unacknowledged).map { $0 - $1 }), results stored twice \(extraResults)
            """)
        #expect(settled.count == events)
        #expect(copies.count == events)
        // Each event has one stored result, so the repeats are exactly the requests without a result.
        #expect(repeats == unacknowledged.last)
        #expect(extraResults == 0)
        #expect(copies.values.allSatisfy { Set($0).count == 1 })
        await room.close()
    }

    @Test(.enabled(if: isUnderFire, "\(underFireHint)"), .timeLimit(.minutes(3)))
    func `SIGTERM during the work loses and repeats nothing, and a second one ends the process at once`() async throws {
        let events = 10_000
        let room = try await FireRoom(
            partitions: 4,
            """
            lanes: {live: {topics: [news.events]}}
            payload: {mode: native, platforms: [apple]}
            rate: {perSecond: 1500, burst: 10}
            """)
        try room.publish(1...events)
        func runUntil(_ count: Int) throws -> ChildProcess {
            let running = try room.run()
            while room.hub.receivedCount < count, running.isRunning { moment() }
            return running
        }
        let first = try runUntil(events / 4)
        first.signal(SIGTERM)
        #expect(first.wait() == 0, "\(first.output.suffix(2000))")
        let accepted = room.hub.receivedCount
        #expect(accepted < events)
        #expect(try room.results().count == accepted)

        // A hub that does not answer delays the orderly end of the second process.
        let second = try runUntil(events / 2)
        room.hub.add(try HubFault(json: .object([.init("latencyMs", .integer(20_000))])))
        let half = room.hub.receivedCount
        let waits = ContinuousClock.now
        while waits.duration(to: .now) < .milliseconds(300) { moment() }
        second.signal(SIGTERM)
        let told = ContinuousClock.now
        while told.duration(to: .now) < .milliseconds(400) { moment() }
        #expect(second.isRunning)
        second.signal(SIGTERM)
        // An orderly end would return 0.
        #expect(second.wait() == 128 + SIGTERM)
        room.hub.clearFaults()

        let last = try room.run("--until-caught-up", environment: ["NEWSWIRE_RATE_PER_SECOND": "unlimited"])
        #expect(last.wait() == 0, "\(last.output.suffix(2000))")
        let results = try room.results()
        #expect(results.count == events)
        #expect(Set(results.map(\.coordinates)).count == events)
        let repeats = room.hub.receivedCount - events
        print("SIGTERM test: first life \(accepted), second \(half), repeats after being cut short \(repeats)")
        #expect(repeats <= 64)
        await room.close()
    }
}
