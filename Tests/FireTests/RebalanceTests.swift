import Foundation
import HubEmulator
import HubServer
import KafkaIO
import NewsModel
import NotificationHub
import TestSupport
import Testing

@Suite(.ownThread)
struct RebalanceTests {
    /// The largest number of messages within this many milliseconds.
    private func most(_ times: [Int64], within stretch: Int64) -> Int {
        var first = 0
        var most = 0
        for (index, time) in times.enumerated() {
            while first < index, time - times[first] >= stretch { first += 1 }
            most = max(most, index - first + 1)
        }
        return most
    }

    @Test(.enabled(if: isUnderFire, "\(underFireHint)"), .timeLimit(.minutes(5)))
    func `nothing is lost and the rate holds while three processes join, leave and freeze`() async throws {
        let events = scale("NEWSWIRE_FIRE_REBALANCE_EVENTS", 50_000)
        let rate = scale("NEWSWIRE_FIRE_RATE", 1_000)
        let burst = 50
        let partitions = 16
        let room = try await FireRoom(
            partitions: partitions,
            """
            lanes: {live: {topics: [news.events]}}
            payload: {mode: native, platforms: [apple]}
            rate: {perSecond: \(rate), burst: \(burst)}
            """)
        try room.publish(1...events)
        let all = (0..<Int32(partitions)).map { TopicPartition(topic: "news.events", partition: $0) }
        let admin = try KafkaAdmin(settings: room.kafka)
        var committed: [TopicPartition: Int64] = [:]
        /// Watches the commits until the hub has this many messages.
        func until(_ count: Int) throws {
            while room.hub.receivedCount < count {
                let now = try admin.committed(group: "newswire", all)
                for (partition, offset) in now {
                    let before = committed[partition] ?? 0
                    #expect(offset >= before, "\(partition) went back from \(before) to \(offset)")
                    committed[partition] = offset
                }
                moment()
            }
        }

        let first = try room.run()
        try until(events / 20)
        let second = try room.run()
        try until(events * 3 / 20)
        let third = try room.run()
        try until(events * 6 / 20)
        second.signal(SIGSTOP)
        // The others take over its partitions once its session is lost. Otherwise these events would never arrive.
        let frozen = ContinuousClock.now
        while frozen.duration(to: .now) < .seconds(10) { try until(room.hub.receivedCount + 1) }
        second.signal(SIGCONT)
        try until(max(events * 14 / 20, room.hub.receivedCount))
        third.signal(SIGTERM)
        #expect(third.wait() == 0, "\(third.output.suffix(2000))")
        let last = try room.run("--until-caught-up")
        #expect(last.wait() == 0, "\(last.output.suffix(2000))")
        for process in [first, second] {
            process.signal(SIGTERM)
            #expect(process.wait() == 0, "\(process.output.suffix(2000))")
        }

        let times = room.hub.received.map(\.time.milliseconds).sorted()
        let numbers = Set(try room.hub.received.map { try number(of: $0) })
        let results = try room.results()
        let settled = Set(results.map(\.coordinates))
        let ends = try admin.committed(group: "newswire", all)
        let busiest = most(times, within: 1_000)
        print(
            """
            rebalance test: \(events) events, repeats \(times.count - numbers.count), results stored twice \
            \(results.count - settled.count), busiest second \(busiest) of \(rate) + \(burst)
            """)
        #expect(numbers.count == events)
        #expect(settled.count == events)
        #expect(ends.values.reduce(0, +) == Int64(events))
        // The sender enforces the limit. A busy machine may delay requests so that they arrive closer together.
        #expect(busiest <= (rate + burst) * 5 / 4)
        // Repeats are the frozen process's requests in flight, and those it sent before it noticed the lost session.
        #expect(times.count - numbers.count <= 3 * 64)
        await room.close()
    }
}
